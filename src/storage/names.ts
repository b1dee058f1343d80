import type { NamedKind, NameOwner } from './shared/names.ts'
import { openNames as openSqliteNames } from './sqlite/names.ts'

export type { NamedKind }

/**
 * Reads the names or ids of records, the newest first, over a connection that cannot write: for completions, which load nothing
 * else and must make no database. Throws where there is none.
 */
export function readNames(folder: string, kind: NamedKind, owner: NameOwner): readonly string[] {
  return openSqliteNames(folder, kind, owner)
}
