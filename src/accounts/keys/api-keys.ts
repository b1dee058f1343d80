import { AppError } from '../../errors.ts'
import { isPrintableLine } from '../../formats/formats.ts'
import { type MaybePromise, type User, whenThere } from '../users.ts'
import { digestOfKey, keyTextProblem, lastFour, makeKeyText } from './key-text.ts'
import { boundScopes, defaultScopes, type KeyRights, type Scope } from './rights.ts'
import type { ApiKey, KeyBounds, KeyChange, KeyQuery, KeyStore, KeyUse, LiveKey, NewSecret } from './store.ts'

/** The caller of a request with a key: its owner with the role of this moment, cut by the key's rights. */
export interface KeyCaller extends Pick<User, 'id' | 'username' | 'role'> {
  readonly key: KeyRights
}

/** A key that may be used now. The digest names the secret, for the watch over open streams. */
export interface VerifiedKey {
  readonly caller: KeyCaller
  readonly digest: string
}

/** The order for a new key, its fields already checked for their shape. */
export interface KeyOrder {
  readonly owner: string
  readonly name?: string | undefined
  readonly scopes?: readonly Scope[] | undefined
  readonly models?: readonly string[] | undefined
  readonly plugins?: readonly string[] | undefined
  readonly personas?: readonly string[] | undefined
  /** Seconds; without it the key lasts until it is revoked. */
  readonly expiresIn?: number | undefined
}

/** A key with the text of its secret, which is shown this once. */
export interface KeyWithSecret {
  readonly key: ApiKey
  readonly secret: string
}

/** The keys of the programs that ask this installation. Unknown ids fail with `not_found`, revoked keys with `invalid`. */
export type ApiKeys = ReturnType<typeof createApiKeys>

export type KeyState = 'live' | 'expired' | 'revoked' | 'ownerless'

export interface ApiKeyParts {
  readonly store: KeyStore
  readonly bounds: () => KeyBounds
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly newId: () => string
  readonly random?: (count: number) => Uint8Array
}

/** The longest name: characters. */
const longestKeyName = 100

/** Uses are shown to the minute, and written in batches this long after the first: milliseconds. */
const useGrain = 60_000
const writeAfter = 5_000

/** The area as one value, over its store. */
export function createApiKeys({ store, bounds, clock, newId, random }: ApiKeyParts) {
  const listeners = new Set<() => void>()
  const callers = new WeakMap<LiveKey, VerifiedKey>()
  const uses = createUses(store)

  return {
    /**
     * The caller of a key, or the failure to answer with (`invalid_api_key`). A text with the wrong shape or checksum
     * asks nothing; a known key costs one SHA-256 and a look into a map, and is then synchronous.
     */
    verify(text: string): MaybePromise<VerifiedKey | AppError> {
      const problem = keyTextProblem(text)
      if (problem) return malformed(problem)
      return whenThere(store.byDigest(digestOfKey(text)), verified)
    },
    /** Why the secret with this digest may no longer be used (`key_revoked`); undefined while it may. */
    endOf: (digest: string) =>
      whenThere(store.byDigest(digest), (live) => {
        const reason = live ? whyDead(live, clock()) : 'The API key is gone'
        return reason === undefined ? undefined : new AppError('key_revoked', reason)
      }),
    /** Calls the listener whenever a key may have ended here; returns how to stop that. */
    onEnd(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Throws `invalid` for a bad name, an unknown owner, and too many keys. */
    async create({ owner, name = 'unnamed', expiresIn, ...lists }: KeyOrder): Promise<KeyWithSecret> {
      refuseName(name)
      const { secret, text } = makeSecret()
      const now = clock()
      const expires_at = expiresIn === undefined ? null : now + expiresIn * 1000
      const scopes = lists.scopes ?? (lists.personas ? boundScopes : defaultScopes)
      const key = { id: newId(), user_id: owner, name, ...lists, scopes, expires_at, secret, created_at: now }
      const most = bounds()
      const made = await store.insert(key, most)
      if (typeof made === 'string') throw notMade(made, most, owner)
      return { key: made, secret: text }
    },
    async get(id: string): Promise<ApiKey> {
      await uses.flush()
      return found(await store.find(id), id)
    },
    async list(query: KeyQuery): Promise<{ readonly keys: readonly ApiKey[]; readonly total: number }> {
      await uses.flush()
      return store.list(query)
    },
    async update(id: string, change: KeyChange): Promise<ApiKey> {
      if (change.name !== undefined) refuseName(change.name)
      const key = found(await store.update(id, change, clock()), id)
      ended()
      return key
    },
    /** The old secret works for `overlap` more seconds. */
    async rotate(id: string, overlap: number): Promise<KeyWithSecret> {
      await uses.flush()
      const { secret, text } = makeSecret()
      const now = clock()
      const key = found(await store.rotate(id, secret, now + overlap * 1000, now), id)
      ended()
      return { key, secret: text }
    },
    async revoke(id: string) {
      if (!(await store.revoke(id, clock()))) throw unknownKey(id)
      ended()
    },
    /** Tells how many keys it ended. */
    async revokeAll(userId: string): Promise<number> {
      const count = await store.revokeAll(userId, clock())
      ended()
      return count
    },
    countLive: (userId: string) => store.countLive(userId, clock()),
    stateOf({ username, revoked_at, expires_at }: ApiKey): KeyState {
      if (revoked_at !== null) return 'revoked'
      if (username === null) return 'ownerless'
      return expires_at !== null && expires_at <= clock() ? 'expired' : 'live'
    },
    /** Writes the uses that are not written yet. */
    flush: uses.flush,
    close: uses.flush,
  }

  function verified(live: LiveKey | undefined): VerifiedKey | AppError {
    if (!live) return unknownText()
    const now = clock()
    const reason = whyDead(live, now)
    if (reason !== undefined) return refusedKey(reason)
    uses.note(live.digest, now - (now % useGrain))
    const known = callers.get(live)
    if (known) return known
    const { user_id: id, owner, rights: key, digest } = live
    const made: VerifiedKey = { caller: { id, ...owner!, key }, digest }
    callers.set(live, made)
    return made
  }

  function ended(): void {
    for (const listener of listeners) listener()
  }

  function makeSecret(): { readonly secret: NewSecret; readonly text: string } {
    const text = makeKeyText(random)
    return { text, secret: { digest: digestOfKey(text), last4: lastFour(text) } }
  }
}

/** Collects uses and writes them in batches: a write per request would cost more than its key. */
function createUses(store: KeyStore) {
  const noted = new Map<string, number>()
  let pending: KeyUse[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const batch = pending
    pending = []
    if (batch.length === 0) return
    // A full disk must refuse no request: those uses are written late, by the next one of the key.
    await store.touch(batch).catch(() => {
      for (const { digest } of batch) noted.delete(digest)
    })
  }
  return {
    flush,
    note(digest: string, at: number): void {
      if (noted.get(digest) === at) return
      if (noted.size >= mostNoted) noted.clear()
      noted.set(digest, at)
      pending.push({ digest, at })
      timer ??= setTimeout(flush, writeAfter).unref()
    },
  }
}

/** The most digests with a remembered minute of use; beyond it all are forgotten, which costs a write each. */
const mostNoted = 20_000

/** Why a key may not be used at this time, in a sentence; undefined where it may. */
function whyDead({ owner, revoked_at, expires_at, valid_until }: LiveKey, now: number): string | undefined {
  if (revoked_at !== null) return `The API key was revoked on ${timeOf(revoked_at)}`
  if (!owner) return 'The owner of the API key was removed'
  if (expires_at !== null && expires_at <= now) return `The API key expired on ${timeOf(expires_at)}`
  if (valid_until !== null && valid_until <= now)
    return `The API key was rotated, and this secret of it ended on ${timeOf(valid_until)}`
  return undefined
}

function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function malformed(problem: 'shape' | 'checksum'): AppError {
  const message = problem === 'shape' ? 'This is not an API key of aichat' : 'The API key is misspelt or cut off'
  return new AppError('invalid_api_key', message, {
    details: [problem === 'shape' ? 'One begins with aic_ and has 42 characters' : 'Copy it again, whole'],
  })
}

function unknownText(): AppError {
  return new AppError('invalid_api_key', 'The API key is not known here', {
    details: ['Check that it was made on this server, or make another: aichat key create'],
  })
}

function refusedKey(reason: string): AppError {
  return new AppError('invalid_api_key', reason, { details: ['Make another: aichat key create'] })
}

function refuseName(name: string): void {
  const length = [...name].length
  if (length >= 1 && length <= longestKeyName && isPrintableLine(name) && name.trim() !== '') return
  throw new AppError('invalid', 'Invalid name of an API key', {
    details: [`name: must be one line of 1 to ${longestKeyName} printable characters`],
  })
}

function found(key: ApiKey | 'absent' | 'revoked' | undefined, id: string): ApiKey {
  if (key === undefined || key === 'absent') throw unknownKey(id)
  if (key !== 'revoked') return key
  throw new AppError('invalid', 'The API key is revoked', { details: ['Make another: aichat key create'] })
}

function unknownKey(id: string): AppError {
  return new AppError('not_found', `API key "${id.slice(0, 100)}" not found`)
}

function notMade(
  reason: 'absent' | 'too_many' | 'too_many_of_user',
  { inAll, perUser }: KeyBounds,
  owner: string,
): AppError {
  if (reason === 'absent')
    // `local` owns what is made at the command line before there are users: another owner is a mistake of the request.
    return new AppError(owner === 'local' ? 'configuration' : 'invalid', 'No user found to own the API key', {
      details: ['Create the first one: aichat setup'],
    })
  const [count, setting] =
    reason === 'too_many'
      ? [`${inAll} in all`, 'limits.api_keys']
      : [`${perUser} of one user`, 'limits.api_keys_per_user']
  return new AppError('invalid', `There are as many live API keys as may be: ${count}`, {
    details: [`Revoke one that is not needed, or raise ${setting}`],
  })
}
