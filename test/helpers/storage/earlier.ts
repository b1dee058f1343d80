import { earlierChanges } from '../../../src/storage/schema/version.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'

/** Lets a database say that it was made by a build which had all changes of its schema but these, and not the present one. */
export function lackChanges(db: Database, ...lacking: readonly string[]): void {
  db.exec('DELETE FROM migration')
  const insert = db.prepare('INSERT INTO migration (name, applied_at) VALUES (?, 0)')
  for (const name of earlierChanges) if (!lacking.includes(name)) insert.run(name)
}
