import { join } from 'node:path'
import { type NamedKind, type NameOwner, nameStatement, withoutAccounts } from '../shared/names.ts'
import type { Database } from './connection.ts'
import { openReader } from './reader.ts'

const dialect = { users: 'user', owner: ':owner', persona: ':persona' }

/** See `readNames`. */
export function readSqliteNames(
  folder: string,
  kind: NamedKind,
  { administrator = '', persona = '' }: NameOwner,
): readonly string[] {
  const db = openReader(join(folder, 'aichat.db'))
  try {
    const owner = ownerIn(db, administrator)
    return db.prepare<object, string>(nameStatement(kind, dialect)).pluck().all({ owner, persona })
  } finally {
    db.close()
  }
}

/** The account that commands without a log-in act for: an administrator, else the rows without accounts. */
function ownerIn(db: Database, preferred: string): string {
  const administrator = db
    .prepare<[string], string>(
      `SELECT id FROM user WHERE role = 'admin' ORDER BY username_key = ? DESC, created_at, rowid LIMIT 1`,
    )
    .pluck()
    .get(preferred.toLowerCase())
  return administrator ?? withoutAccounts
}
