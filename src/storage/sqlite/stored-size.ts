import { statSync } from 'node:fs'
import type { StoredSize } from '../shared/stored-size.ts'
import type { Database } from './connection.ts'

/** Reads sums that are kept as rows are written: a row for each user, however much is stored. */
export function storedSize(db: Database, path: string): StoredSize {
  const sums = db
    .prepare<[], { users: number; personas: number; memories: number; personaBytes: number }>(
      `SELECT (SELECT count(*) FROM user) AS users, (SELECT count(*) FROM persona_usage) AS personas,
              ifnull(sum(memories), 0) AS memories, ifnull(sum(bytes), 0) AS personaBytes FROM user_usage`,
    )
    .get()!
  return { ...sums, databaseBytes: bytesOf(path), logBytes: bytesOf(`${path}-wal`) }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
