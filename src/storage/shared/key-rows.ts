import type { ApiKey, LiveKey } from '../../accounts/keys/store.ts'
import type { Role } from '../../accounts/users.ts'

/** A row of the table of keys, with the name of its owner; lists are JSON. */
export interface KeyRow {
  readonly id: string
  readonly user_id: string
  readonly username: string | null
  readonly name: string
  readonly scopes: string
  readonly models: string | null
  readonly plugins: string | null
  readonly personas: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

/** The columns of a key that decide on a request. */
export type LiveRow = Pick<KeyRow, 'id' | 'user_id' | 'username' | Lists | 'scopes' | 'expires_at' | 'revoked_at'> & {
  readonly role: Role | null
  readonly valid_until: number | null
}

type Lists = 'models' | 'plugins' | 'personas'

/** How many dead keys of one user are kept. */
export const mostDead = 1_000

/** How many keys `unusedSince` tells. */
export const mostUnused = 1_000

/** The key of a row, with its secrets. */
export function keyOf(row: KeyRow, secrets: ApiKey['secrets']): ApiKey {
  const { models: _m, plugins: _p, personas: _q, scopes, ...rest } = row
  return { ...rest, scopes: JSON.parse(scopes), ...listsOf(row), secrets }
}

export function liveOf(digest: string, row: LiveRow): LiveKey {
  const { id, user_id, username, role, expires_at, revoked_at, valid_until } = row
  return {
    digest,
    user_id,
    owner: username === null || role === null ? null : { username, role },
    rights: { id, scopes: JSON.parse(row.scopes), ...listsOf(row) },
    expires_at,
    revoked_at,
    valid_until,
  }
}

/** The lists of a row; one that is NULL is absent. */
function listsOf({ models, plugins, personas }: Pick<KeyRow, Lists>): Pick<ApiKey, Lists> {
  return {
    ...(models !== null && { models: JSON.parse(models) }),
    ...(plugins !== null && { plugins: JSON.parse(plugins) }),
    ...(personas !== null && { personas: JSON.parse(personas) }),
  }
}

type ListsAndScopes = { readonly [K in Lists | 'scopes']?: readonly string[] | null | undefined }

/** The lists of a key as columns. */
export function textsOf({ scopes, models, plugins, personas }: ListsAndScopes) {
  const text = (list: readonly string[] | null | undefined) => (list ? JSON.stringify(list) : null)
  return { scopes: text(scopes), models: text(models), plugins: text(plugins), personas: text(personas) }
}
