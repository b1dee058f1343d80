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
} from '../../accounts/keys/store.ts'
import { type KeyRow, keyOf, type LiveRow, liveOf, mostDead, mostUnused, textsOf } from '../shared/key-rows.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'

/** API keys in SQLite. */
export function createKeyStore(db: Database, changes: OwnChanges): KeyStore {
  const rows = keyStatements(db)
  const byDigest = createSessionCache<LiveKey>(
    () => changes.mark('accounts'),
    (digest) => rows.live(digest),
  )

  const insert = db.transaction((key: NewKey, { inAll, perUser }: KeyBounds) => {
    if (!rows.hasUser(key.user_id)) return 'absent'
    if (rows.countOf(key.user_id, key.created_at) >= perUser) return 'too_many_of_user'
    if (rows.count(key.created_at) >= inAll) return 'too_many'
    rows.dropDead(key.user_id, key.created_at)
    rows.insert(key)
    return rows.find(key.id)!
  })
  const update = db.transaction((id: string, change: KeyChange, now: number) => {
    const before = rows.find(id)
    if (!before) return 'absent'
    if (before.revoked_at !== null) return 'revoked'
    rows.describe(id, { ...before, ...change }, now)
    return rows.find(id)!
  })
  const rotate = db.transaction((id: string, secret: NewSecret, validUntil: number, now: number) => {
    const before = rows.find(id)
    if (!before) return 'absent'
    if (before.revoked_at !== null) return 'revoked'
    rows.replaceSecret(id, secret, validUntil, now)
    return rows.find(id)!
  })
  const touch = db.transaction((uses: readonly KeyUse[]) => {
    for (const use of uses) rows.touch(use)
  })

  /** A write that may end a key: cached keys are dropped after it, whether it succeeded or not. */
  const writing = <A extends unknown[], R>(write: (...given: A) => R) => {
    return async (...given: A): Promise<R> => {
      try {
        return write(...given)
      } finally {
        changes.wroteAccounts()
      }
    }
  }

  return {
    insert: async (key, bounds) => insert.immediate(key, bounds),
    find: async (id) => rows.find(id),
    list: async (query) => rows.list(query),
    update: writing(update.immediate),
    rotate: writing(rotate.immediate),
    revoke: writing(rows.revoke),
    revokeAll: writing(rows.revokeAll),
    countLive: async (userId, now) => rows.countOf(userId, now),
    unusedSince: async (since, now) => rows.unused(since, now),
    byDigest,
    touch: async (uses) => touch.immediate(uses),
  }
}

/** The condition of a live key `k`. */
const isLive = `k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :now)
  AND EXISTS (SELECT 1 FROM user u WHERE u.id = k.user_id)`

function keyStatements(db: Database) {
  const columns = 'SELECT k.*, u.username FROM api_key k LEFT JOIN user u ON u.id = k.user_id'
  const one = db.prepare<[string], KeyRow>(`${columns} WHERE k.id = ?`)
  const all = db.prepare<{ limit: number; offset: number }, KeyRow>(
    `${columns} ORDER BY k.created_at, k.id LIMIT :limit OFFSET :offset`,
  )
  const own = db.prepare<{ userId: string; limit: number; offset: number }, KeyRow>(
    `${columns} WHERE k.user_id = :userId ORDER BY k.created_at, k.id LIMIT :limit OFFSET :offset`,
  )
  const total = db.prepare<[], number>('SELECT count(*) FROM api_key').pluck()
  const totalOf = db.prepare<[string], number>('SELECT count(*) FROM api_key WHERE user_id = ?').pluck()
  const unused = db.prepare<{ since: number; now: number; limit: number }, KeyRow>(
    `${columns} WHERE ${isLive} AND max(k.created_at, coalesce(k.last_used_at, 0)) < :since
     ORDER BY k.created_at, k.id LIMIT :limit`,
  )
  const secrets = db.prepare<[string], KeySecret>(
    `SELECT last4, created_at, valid_until, last_used_at FROM api_key_secret WHERE key_id = ?
     ORDER BY valid_until IS NOT NULL, created_at DESC`,
  )
  const live = db.prepare<[string], LiveRow>(
    `SELECT k.id, k.user_id, u.username, u.role, k.scopes, k.models, k.plugins, k.personas, k.expires_at, k.revoked_at,
       s.valid_until
     FROM api_key_secret s JOIN api_key k ON k.id = s.key_id LEFT JOIN user u ON u.id = k.user_id WHERE s.digest = ?`,
  )
  const user = db.prepare<[string], 1>('SELECT 1 FROM user WHERE id = ?').pluck()
  const count = db.prepare<{ now: number }, number>(`SELECT count(*) FROM api_key k WHERE ${isLive}`).pluck()
  const countOf = db
    .prepare<{ userId: string; now: number }, number>(
      `SELECT count(*) FROM api_key k WHERE k.user_id = :userId AND ${isLive}`,
    )
    .pluck()
  const dropDead = db.prepare<{ userId: string; now: number; kept: number }>(
    `DELETE FROM api_key WHERE id IN (SELECT k.id FROM api_key k WHERE k.user_id = :userId AND NOT (${isLive})
       ORDER BY k.created_at DESC, k.id DESC LIMIT -1 OFFSET :kept)`,
  )
  const insertKey = db.prepare(
    `INSERT INTO api_key (id, user_id, name, scopes, models, plugins, personas, created_at, updated_at, expires_at)
     VALUES (:id, :user_id, :name, :scopes, :models, :plugins, :personas, :created_at, :created_at, :expires_at)`,
  )
  const describe = db.prepare(
    `UPDATE api_key SET name = :name, scopes = :scopes, models = :models, plugins = :plugins, personas = :personas,
       expires_at = :expires_at, updated_at = :now WHERE id = :id`,
  )
  const insertSecret = db.prepare(
    'INSERT INTO api_key_secret (digest, key_id, last4, created_at) VALUES (:digest, :id, :last4, :now)',
  )
  const dropReplaced = db.prepare<[string]>('DELETE FROM api_key_secret WHERE key_id = ? AND valid_until IS NOT NULL')
  const endCurrent = db.prepare<{ id: string; until: number }>(
    'UPDATE api_key_secret SET valid_until = :until WHERE key_id = :id',
  )
  const rotated = db.prepare<{ id: string; now: number }>('UPDATE api_key SET updated_at = :now WHERE id = :id')
  const revoke = db.prepare<{ id: string; now: number }>(
    'UPDATE api_key SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id',
  )
  const revokeAll = db.prepare<{ userId: string; now: number }>(
    `UPDATE api_key AS k SET revoked_at = :now WHERE k.user_id = :userId AND ${isLive}`,
  )
  const touchSecret = db.prepare<KeyUse>(
    'UPDATE api_key_secret SET last_used_at = max(coalesce(last_used_at, 0), :at) WHERE digest = :digest',
  )
  const touchKey = db.prepare<KeyUse>(
    `UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), :at)
     WHERE id = (SELECT key_id FROM api_key_secret WHERE digest = :digest)`,
  )
  const whole = (row: KeyRow): ApiKey => keyOf(row, secrets.all(row.id))

  return {
    find(id: string): ApiKey | undefined {
      const row = one.get(id)
      return row && whole(row)
    },
    list({ userId, limit, offset }: KeyQuery) {
      const found = userId === undefined ? all.all({ limit, offset }) : own.all({ userId, limit, offset })
      return { keys: found.map(whole), total: (userId === undefined ? total.get() : totalOf.get(userId))! }
    },
    unused: (since: number, now: number) => unused.all({ since, now, limit: mostUnused }).map(whole),
    live(digest: string): LiveKey | undefined {
      const row = live.get(digest)
      return row && liveOf(digest, row)
    },
    hasUser: (id: string) => user.get(id) !== undefined,
    count: (now: number) => count.get({ now })!,
    countOf: (userId: string, now: number) => countOf.get({ userId, now })!,
    dropDead: (userId: string, now: number) => void dropDead.run({ userId, now, kept: mostDead - 1 }),
    insert({ secret, ...key }: NewKey): void {
      insertKey.run({ ...key, ...textsOf(key) })
      insertSecret.run({ ...secret, id: key.id, now: key.created_at })
    },
    describe(
      id: string,
      key: Required<Pick<KeyChange, 'name' | 'scopes' | 'expires_at'>> & KeyChange,
      now: number,
    ): void {
      describe.run({ id, name: key.name, expires_at: key.expires_at, ...textsOf(key), now })
    },
    replaceSecret(id: string, secret: NewSecret, until: number, now: number): void {
      dropReplaced.run(id)
      endCurrent.run({ id, until })
      insertSecret.run({ ...secret, id, now })
      rotated.run({ id, now })
    },
    revoke: (id: string, now: number) => revoke.run({ id, now }).changes > 0,
    revokeAll: (userId: string, now: number) => revokeAll.run({ userId, now }).changes,
    touch(use: KeyUse): void {
      touchSecret.run(use)
      touchKey.run(use)
    },
  }
}
