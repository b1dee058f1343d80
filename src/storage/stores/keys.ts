import type {
  ApiKey,
  KeyBounds,
  KeyChange,
  KeyQuery,
  KeySecret,
  KeyStore,
  KeyUse,
  LiveKey,
  NewKey,
  NewSecret,
  Role,
} from '../../accounts/accounts.ts'
import {
  among,
  forUpdate,
  greatest,
  row,
  rows,
  run,
  type Statement,
  type StoreDatabase,
  sql,
  tableOf,
  together,
  unlimited,
  type Work,
} from '../port/port.ts'
import { account } from './account-sessions.ts'

/** API keys. Their writers wait for each other, and for those of accounts. */
export function createKeyStore(db: StoreDatabase): KeyStore {
  /** A write that may end a key: cached keys are dropped after it. */
  const writing = <R>(work: () => Work<R>) => db.write(work, 'accounts')
  return {
    insert: (key, bounds) => writing(() => insert(key, bounds)),
    find: async (id) => db.read(find(id)),
    list: async (query) => db.read(list(query)),
    update: (id, change, now) => writing(() => changing(id, (before) => describe(id, { ...before, ...change }, now))),
    rotate: (id, secret, validUntil, now) =>
      writing(() => changing(id, () => replaceSecret(id, secret, validUntil, now))),
    revoke: (id, now) => writing(() => revoke(id, now)),
    revokeAll: (userId, now) =>
      writing(() =>
        run(sql`UPDATE api_key AS k SET revoked_at = ${now} WHERE k.user_id = ${userId} AND ${isLive(now)}`),
      ),
    countLive: async (userId, now) => db.read(countLive(now, sql`k.user_id = ${userId}`)),

    byDigest: db.cached('accounts', findLive),
    touch: async (uses) => {
      if (uses.length > 0) await db.write(() => touch(uses))
    },
  }
}

/** The condition of a live key `k`. */
function isLive(now: number): Statement {
  return sql`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})
    AND EXISTS (SELECT 1 FROM ${account} u WHERE u.id = k.user_id)`
}

/** Keys with the names of their owners. */
const named = sql`SELECT k.*, u.username FROM api_key k LEFT JOIN ${account} u ON u.id = k.user_id`

function* find(id: string): Work<ApiKey | undefined> {
  return (yield* withSecrets(yield* rows<KeyRow>(sql`${named} WHERE k.id = ${id}`)))[0]
}

/** A page of the keys of one user, or of all, with the number of all. */
function* list({ userId, limit, offset }: KeyQuery) {
  const isAsked = userId === undefined ? sql`true` : sql`k.user_id = ${userId}`
  const [found, counted] = yield* together(
    rows<KeyRow>(sql`${named} WHERE ${isAsked} ORDER BY k.created_at, k.id LIMIT ${limit} OFFSET ${offset}`),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM api_key k WHERE ${isAsked}`),
  )
  return { keys: yield* withSecrets(found), total: counted!.total }
}

function* withSecrets(found: readonly KeyRow[]): Work<readonly ApiKey[]> {
  if (found.length === 0) return []
  const secrets = yield* rows<KeySecret & { key_id: string }>(
    sql`SELECT key_id, last4, created_at, valid_until, last_used_at FROM api_key_secret
        WHERE key_id ${among(found.map(({ id }) => id))} ORDER BY valid_until IS NOT NULL, created_at DESC`,
  )
  const byKey = new Map<string, KeySecret[]>(found.map(({ id }) => [id, []]))
  for (const { key_id, ...secret } of secrets) byKey.get(key_id)?.push(secret)
  return found.map((key) => keyOf(key, byKey.get(key.id)!))
}

/** Keys as they are now, by the digests of their secrets. */
function* findLive(digests: readonly string[]): Work<ReadonlyMap<string, LiveKey>> {
  const found = yield* rows<LiveRow & { digest: string }>(
    sql`SELECT s.digest, k.id, k.user_id, u.username, u.role, k.scopes, k.models, k.plugins, k.personas, k.expires_at,
          k.revoked_at, s.valid_until
        FROM api_key_secret s JOIN api_key k ON k.id = s.key_id LEFT JOIN ${account} u ON u.id = k.user_id
        WHERE s.digest ${among(digests)}`,
  )
  return new Map(found.map(({ digest, ...live }) => [digest, liveOf(digest, live)]))
}

/** Counts the live keys that a condition on the key `k` chooses. */
function* countLive(now: number, isAsked: Statement): Work<number> {
  const counted = yield* row<{ live: number }>(
    sql`SELECT count(*) AS live FROM api_key k WHERE ${isAsked} AND ${isLive(now)}`,
  )
  return counted!.live
}

function* insert(key: NewKey, { inAll, perUser }: KeyBounds) {
  const { id, user_id, name, secret, created_at, expires_at } = key
  const [user, own, all] = yield* together(
    row(sql`SELECT 1 FROM ${account} WHERE id = ${user_id}`),
    countLive(created_at, sql`k.user_id = ${user_id}`),
    countLive(created_at, sql`true`),
  )
  if (!user) return 'absent'
  if (own >= perUser) return 'too_many_of_user'
  if (all >= inAll) return 'too_many'
  const { scopes, models, plugins, personas } = textsOf(key)
  const [, , , added] = yield* together(
    dropDead(user_id, created_at),
    run(
      sql`INSERT INTO api_key (id, user_id, name, scopes, models, plugins, personas, created_at, updated_at, expires_at)
          VALUES (${id}, ${user_id}, ${name}, ${scopes}, ${models}, ${plugins}, ${personas}, ${created_at},
            ${created_at}, ${expires_at})`,
    ),
    addSecret(id, secret, created_at),
    find(id),
  )
  return added!
}

/** Leaves room for one more of the dead keys of a user that are kept. */
function dropDead(userId: string, now: number): Work<number> {
  return run(
    sql`DELETE FROM api_key WHERE id IN (SELECT k.id FROM api_key k WHERE k.user_id = ${userId} AND NOT (${isLive(now)})
          ORDER BY k.created_at DESC, k.id DESC ${unlimited} OFFSET ${mostDead - 1})`,
  )
}

function addSecret(id: string, { digest, last4 }: NewSecret, now: number): Work<number> {
  return run(
    sql`INSERT INTO api_key_secret (digest, key_id, last4, created_at) VALUES (${digest}, ${id}, ${last4}, ${now})`,
  )
}

/** A change of a key that is there and not revoked. */
function* changing(id: string, change: (before: ApiKey) => Work<unknown>) {
  const before = yield* find(id)
  if (!before) return 'absent'
  if (before.revoked_at !== null) return 'revoked'
  const [, after] = yield* together(change(before), find(id))
  return after!
}

type Described = Required<Pick<KeyChange, 'name' | 'scopes' | 'expires_at'>> & KeyChange

function describe(id: string, key: Described, now: number): Work<number> {
  const { scopes, models, plugins, personas } = textsOf(key)
  return run(
    sql`UPDATE api_key SET name = ${key.name}, scopes = ${scopes}, models = ${models}, plugins = ${plugins},
          personas = ${personas}, expires_at = ${key.expires_at}, updated_at = ${now} WHERE id = ${id}`,
  )
}

function replaceSecret(id: string, secret: NewSecret, validUntil: number, now: number): Work<unknown> {
  return together(
    run(sql`DELETE FROM api_key_secret WHERE key_id = ${id} AND valid_until IS NOT NULL`),
    run(sql`UPDATE api_key_secret SET valid_until = ${validUntil} WHERE key_id = ${id}`),
    addSecret(id, secret, now),
    run(sql`UPDATE api_key SET updated_at = ${now} WHERE id = ${id}`),
  )
}

function* revoke(id: string, now: number): Work<boolean> {
  return (yield* run(sql`UPDATE api_key SET revoked_at = coalesce(revoked_at, ${now}) WHERE id = ${id}`)) > 0
}

/** Locks the rows in one order first: several processes note uses of the same keys at once. */
function* touch(uses: readonly KeyUse[]): Work<void> {
  const used = tableOf(
    { digest: 'text', at: 'integer' },
    uses.map(({ digest, at }) => [digest, at]),
  )
  const digests = uses.map(({ digest }) => digest)
  yield* together(
    rows(
      sql`SELECT 1 FROM api_key WHERE id IN (SELECT key_id FROM api_key_secret WHERE digest ${among(digests)})
          ORDER BY id ${forUpdate}`,
    ),
    run(
      sql`UPDATE api_key_secret AS s SET last_used_at = ${greatest}(coalesce(s.last_used_at, 0), u.at)
          FROM (SELECT t.digest, max(t.at) AS at FROM ${used} AS t GROUP BY t.digest) AS u WHERE s.digest = u.digest`,
    ),
    run(
      sql`UPDATE api_key AS k SET last_used_at = ${greatest}(coalesce(k.last_used_at, 0), u.at)
          FROM (SELECT s.key_id, max(t.at) AS at FROM ${used} AS t JOIN api_key_secret s ON s.digest = t.digest
            GROUP BY s.key_id) AS u WHERE k.id = u.key_id`,
    ),
  )
}

/** A row of the table of keys, with the name of its owner; lists are JSON. */
interface KeyRow extends Omit<ApiKey, 'scopes' | 'secrets' | Lists>, Readonly<Record<Lists, string | null>> {
  readonly scopes: string
}

/** The columns of a key that decide on a request. */
type LiveRow = Pick<KeyRow, 'id' | 'user_id' | 'username' | Lists | 'scopes' | 'expires_at' | 'revoked_at'> & {
  readonly role: Role | null
  readonly valid_until: number | null
}

type Lists = 'models' | 'plugins' | 'personas'

/** How many dead keys of one user are kept. */
const mostDead = 1_000

function keyOf(row: KeyRow, secrets: ApiKey['secrets']): ApiKey {
  const { models: _m, plugins: _p, personas: _q, scopes, ...rest } = row
  return { ...rest, scopes: JSON.parse(scopes), ...listsOf(row), secrets }
}

function liveOf(digest: string, row: LiveRow): LiveKey {
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
function textsOf({ scopes, models, plugins, personas }: ListsAndScopes) {
  const text = (list: readonly string[] | null | undefined) => (list ? JSON.stringify(list) : null)
  return { scopes: text(scopes), models: text(models), plugins: text(plugins), personas: text(personas) }
}
