import { join } from 'node:path'
import type { StoredPlugins } from '../plugins/plugins.ts'
import type { PluginPlaces } from './files/plugins.ts'

/** The kinds of records with names that a shell completes. */
export type NamedKind = 'personas' | 'sessions' | 'users' | 'api-keys' | 'memories' | 'backups'

/** The owner of the names to read. */
export interface NameOwner {
  /** The administrator that owns the records of this machine, where a setting names one. */
  readonly administrator?: string | undefined
  /** The name or id of the persona with the memories or backups. */
  readonly persona?: string | undefined
}

/** The most names of one kind: a shell lists no more. */
const mostNames = 1000

/** The owner of rows that were made without accounts. */
const withoutAccounts = 'local'

const ofPersona = 'persona.user_id = :owner AND (persona.id = :persona OR persona.name = :persona)'

/** The statements that read the names of each kind, the newest first. */
const statements: Readonly<Record<NamedKind, string>> = {
  // A name that several personas have is no address: their ids are.
  personas: `SELECT CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN id ELSE name END FROM persona
    WHERE user_id = :owner ORDER BY created_at DESC`,
  sessions: 'SELECT name FROM conversation WHERE user_id = :owner ORDER BY updated_at DESC',
  users: 'SELECT username FROM user ORDER BY created_at DESC',
  'api-keys': 'SELECT id FROM api_key WHERE revoked_at IS NULL ORDER BY created_at DESC',
  memories: `SELECT memory.id FROM memory JOIN memory_scope USING (scope_id) JOIN persona ON persona.id = persona_id
    WHERE ${ofPersona} AND memory_scope.user_id = :owner ORDER BY memory.timestamp DESC`,
  backups: `SELECT persona_backup.id FROM persona_backup JOIN persona ON persona.id = persona_id
    WHERE ${ofPersona} ORDER BY persona_backup.created_at DESC`,
}

/**
 * Reads the names or ids of records in a data folder over a connection that cannot write: for completions, which load nothing
 * else and must make no database. Rejects where there is none.
 */
export async function readNames(
  folder: string,
  kind: NamedKind,
  { administrator = '', persona = '' }: NameOwner,
): Promise<readonly string[]> {
  const { openReader } = await import('./sqlite/reader.ts')
  const db = openReader(join(folder, 'aichat.db'))
  try {
    // The account that commands without a login act for: an administrator, else the rows without accounts.
    const owner = db
      .prepare<[string], string>(
        `SELECT id FROM user WHERE role = 'admin' ORDER BY username_key = ? DESC, created_at, rowid LIMIT 1`,
      )
      .pluck()
      .get(administrator.toLowerCase())
    const names = db.prepare<object, string>(`${statements[kind]} LIMIT ${mostNames}`).pluck()
    return names.all({ owner: owner ?? withoutAccounts, persona })
  } finally {
    db.close()
  }
}

/** Reads the documents of the plugins, likewise. */
export async function readPluginDocuments(
  place: PluginPlaces,
): Promise<Pick<StoredPlugins, 'bundled' | 'overlays' | 'hidden'>> {
  return (await import('./files/plugins.ts')).openPlugins(place).read()
}
