import { openNames as openSqliteNames } from './sqlite/names.ts'

/** The kinds of records whose names a shell completes. */
export const namedKinds = ['personas', 'sessions', 'users', 'api-keys', 'memories', 'backups'] as const
export type NamedKind = (typeof namedKinds)[number]

/** Whose names are read. */
export interface NameOwner {
  /** The administrator who owns the records of this machine, where a setting names one. */
  readonly administrator?: string | undefined
  /** The name or id of the persona whose memories or backups are meant. */
  readonly persona?: string | undefined
}

/**
 * Reads the names or ids of records, the newest first, over a connection that cannot write: for completions, which load nothing
 * else and must make no database. Throws where there is none.
 */
export function readNames(folder: string, kind: NamedKind, owner: NameOwner): readonly string[] {
  return openSqliteNames(folder, kind, owner)
}
