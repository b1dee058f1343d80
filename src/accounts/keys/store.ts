import type { MaybePromise, Role } from '../users.ts'
import type { KeyRights } from './rights.ts'

/** A secret of a key, without its text. Times are milliseconds since 1970 UTC. */
export interface KeySecret {
  readonly last4: string
  readonly created_at: number
  /** When a replaced secret ends; null for the current one. */
  readonly valid_until: number | null
  readonly last_used_at: number | null
}

/** A key as the store keeps it. Dead keys stay, since usage names them. Times are milliseconds since 1970 UTC. */
export interface ApiKey extends KeyRights {
  readonly user_id: string
  /** The owner's name now; null when the owner is gone. */
  readonly username: string | null
  readonly name: string
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** To the minute. */
  readonly last_used_at: number | null
  /** One or two, the current first. */
  readonly secrets: readonly KeySecret[]
}

/** The fields of a key that decide on a request, found by the key's digest. */
export interface LiveKey {
  readonly digest: string
  readonly user_id: string
  /** Null when the owner is gone. */
  readonly owner: { readonly username: string; readonly role: Role } | null
  readonly rights: KeyRights
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly valid_until: number | null
}

export interface NewKey
  extends Pick<ApiKey, 'id' | 'user_id' | 'name' | 'scopes' | 'expires_at' | 'created_at'>,
    KeyLists<undefined> {
  readonly secret: NewSecret
}

/** The lists of a key, or what stands for a list of none. */
type KeyLists<None> = { readonly [List in 'models' | 'plugins' | 'personas']?: readonly string[] | None }

export interface NewSecret {
  readonly digest: string
  readonly last4: string
}

/** Absent fields stay; null takes a list or an expiry away. */
export interface KeyChange extends Partial<Pick<ApiKey, 'name' | 'scopes' | 'expires_at'>>, KeyLists<null> {}

export interface KeyQuery {
  /** The owner; undefined lists the keys of all users. */
  readonly userId?: string | undefined
  readonly limit: number
  readonly offset: number
}

/** The most live keys, in all and of one user. */
export interface KeyBounds {
  readonly inAll: number
  readonly perUser: number
}

/** The minute in which a secret was last used. */
export interface KeyUse {
  readonly digest: string
  readonly at: number
}

/** Live: not revoked, not expired, and its owner is there. */
export interface KeyStore {
  /** `absent`: there is no such user. Of the user's dead keys the oldest beyond 1,000 go. */
  insert(key: NewKey, bounds: KeyBounds): Promise<ApiKey | 'absent' | 'too_many' | 'too_many_of_user'>
  find(id: string): Promise<ApiKey | undefined>
  /** In the order of creation, ties by id. */
  list(query: KeyQuery): Promise<{ readonly keys: readonly ApiKey[]; readonly total: number }>
  update(id: string, change: KeyChange, now: number): Promise<ApiKey | 'absent' | 'revoked'>
  /** The new secret is the current one; the one before it lasts until `validUntil`, and any older one is gone. */
  rotate(id: string, secret: NewSecret, validUntil: number, now: number): Promise<ApiKey | 'absent' | 'revoked'>
  /** False when there is no such key; a revoked one keeps its time. */
  revoke(id: string, now: number): Promise<boolean>
  /** Revokes the user's live keys, and tells how many there were. */
  revokeAll(userId: string, now: number): Promise<number>
  countLive(userId: string, now: number): Promise<number>
  /**
   * The key with this digest as it is now, also after a change by another process. Synchronous when it was read before and nothing
   * was written since, so that a request with a known key waits for nothing.
   */
  byDigest(digest: string): MaybePromise<LiveKey | undefined>
  /** Notes uses, of known digests, in one transaction. A use never goes back. */
  touch(uses: readonly KeyUse[]): Promise<void>
}
