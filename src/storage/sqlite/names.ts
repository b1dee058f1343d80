import { join } from 'node:path'
import type { NamedKind, NameOwner } from '../shared/names.ts'
import type { Database } from './connection.ts'
import { openReader } from './reader.ts'

/** The most names of one kind: a shell lists no more. */
const mostNames = 1000

/** The owner of rows that were made without accounts. */
const withoutAccounts = 'local'

/** Statements by kind; `:owner` is a user's id, `:persona` the name or id of a persona. */
const statements: Readonly<Record<NamedKind, string>> = {
  // A name that several personas have is no address: their ids are.
  personas: `SELECT CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN id ELSE name END FROM persona
    WHERE user_id = :owner ORDER BY created_at DESC`,
  sessions: 'SELECT name FROM conversation WHERE user_id = :owner ORDER BY updated_at DESC',
  users: 'SELECT username FROM user ORDER BY created_at DESC',
  'api-keys': 'SELECT id FROM api_key WHERE revoked_at IS NULL ORDER BY created_at DESC',
  memories: `SELECT memory.id FROM memory JOIN memory_scope USING (scope_id) JOIN persona ON persona.id = persona_id
    WHERE persona.user_id = :owner AND memory_scope.user_id = :owner AND (persona.id = :persona OR persona.name = :persona)
    ORDER BY memory.timestamp DESC`,
  backups: `SELECT persona_backup.id FROM persona_backup JOIN persona ON persona.id = persona_id
    WHERE persona.user_id = :owner AND (persona.id = :persona OR persona.name = :persona) ORDER BY persona_backup.created_at DESC`,
}

/** See `readNames`. */
export function openNames(folder: string, kind: NamedKind, { administrator = '', persona = '' }: NameOwner) {
  const db = openReader(join(folder, 'aichat.db'))
  try {
    const owner = ownerIn(db, administrator)
    return db.prepare<object, string>(`${statements[kind]} LIMIT ${mostNames}`).pluck().all({ owner, persona })
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
