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
export const withoutAccounts = 'local'

/** The words in which the statements of one database differ. */
export interface NameDialect {
  /** The table of users. */
  readonly users: string
  /** The parameters: a user's id, and the name or id of a persona. */
  readonly owner: string
  readonly persona: string
}

/** The statement that reads the names of a kind, the newest first, in a column `name`. */
export function nameStatement(kind: NamedKind, { users, owner, persona }: NameDialect): string {
  const ofPersona = `persona.user_id = ${owner} AND (persona.id = ${persona} OR persona.name = ${persona})`
  const statements: Readonly<Record<NamedKind, string>> = {
    // A name that several personas have is no address: their ids are.
    personas: `SELECT CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN id ELSE name END AS name FROM persona
      WHERE user_id = ${owner} ORDER BY created_at DESC`,
    sessions: `SELECT name FROM conversation WHERE user_id = ${owner} ORDER BY updated_at DESC`,
    users: `SELECT username AS name FROM ${users} ORDER BY created_at DESC`,
    'api-keys': 'SELECT id AS name FROM api_key WHERE revoked_at IS NULL ORDER BY created_at DESC',
    memories: `SELECT memory.id AS name FROM memory JOIN memory_scope USING (scope_id) JOIN persona ON persona.id = persona_id
      WHERE ${ofPersona} AND memory_scope.user_id = ${owner} ORDER BY memory.timestamp DESC`,
    backups: `SELECT persona_backup.id AS name FROM persona_backup JOIN persona ON persona.id = persona_id
      WHERE ${ofPersona} ORDER BY persona_backup.created_at DESC`,
  }
  return `${statements[kind]} LIMIT ${mostNames}`
}
