import type { KeyBounds, KeyStore, KeyUse, LiveKey, NewKey, NewSecret } from '../../accounts/keys/store.ts'
import { mostDead, textsOf } from '../shared/key-rows.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import type { Context } from './context.ts'
import { inOneQuery } from './in-one-query.ts'
import { countLive, findKey, findLive, isLive, listKeys, unusedKeys } from './keys-rows.ts'
import { oneWriter } from './one-writer.ts'
import type { Transaction } from './sql.ts'

/** API keys in PostgreSQL. Their writers wait for each other, and for those of accounts. */
export function createKeyStore({ db, changes }: Context): KeyStore {
  const byDigest = createSessionCache<LiveKey>(
    () => changes.mark('accounts'),
    inOneQuery((digests) => findLive(db, digests)),
    changes.grace,
  )
  /** A write that may end a key: all processes drop their cached keys after it. */
  const writing = <R>(write: (tx: Transaction) => Promise<R>) =>
    changes.writing('accounts', async (tx) => {
      await oneWriter(tx, 'accounts')
      return write(tx)
    })
  /** A change of a key that is there and not revoked. */
  const changing = (id: string, change: (tx: Transaction, before: KeyOf) => Promise<unknown>) =>
    writing(async (tx) => {
      const before = await findKey(tx, id)
      if (!before) return 'absent'
      if (before.revoked_at !== null) return 'revoked'
      await change(tx, before)
      return (await findKey(tx, id))!
    })

  return {
    insert: (key, bounds) =>
      db.transaction(async (tx) => {
        await oneWriter(tx, 'accounts')
        const refused = await refusedBy(tx, key, bounds)
        if (refused) return refused
        await addKey(tx, key)
        return (await findKey(tx, key.id))!
      }),
    find: (id) => findKey(db, id),
    list: (query) => listKeys(db, query),
    update: (id, change, now) =>
      changing(id, (tx, before) => {
        const key = { ...before, ...change }
        const { scopes, models, plugins, personas } = textsOf(key)
        return tx.run(
          `UPDATE api_key SET name = $2, scopes = $3, models = $4, plugins = $5, personas = $6, expires_at = $7,
             updated_at = $8 WHERE id = $1`,
          [id, key.name, scopes, models, plugins, personas, key.expires_at, now],
        )
      }),
    rotate: (id, secret, validUntil, now) =>
      changing(id, (tx) =>
        Promise.all([
          tx.run('DELETE FROM api_key_secret WHERE key_id = $1 AND valid_until IS NOT NULL', [id]),
          tx.run('UPDATE api_key_secret SET valid_until = $2 WHERE key_id = $1', [id, validUntil]),
          addSecret(tx, id, secret, now),
          tx.run('UPDATE api_key SET updated_at = $2 WHERE id = $1', [id, now]),
        ]),
      ),
    revoke: (id, now) =>
      writing(
        async (tx) =>
          (await tx.run('UPDATE api_key SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1', [id, now])) > 0,
      ),
    revokeAll: (userId, now) =>
      writing((tx) => tx.run(`UPDATE api_key k SET revoked_at = $1 WHERE k.user_id = $2 AND ${isLive}`, [now, userId])),
    countLive: (userId, now) => countLive(db, now, userId),
    unusedSince: (since, now) => unusedKeys(db, since, now),
    byDigest,
    touch: (uses) => db.transaction((tx) => touch(tx, uses)),
  }
}

type KeyOf = NonNullable<Awaited<ReturnType<typeof findKey>>>

/** The reason for which a key is not added; it must be the only writer. */
async function refusedBy(tx: Transaction, key: NewKey, { inAll, perUser }: KeyBounds) {
  const [user, own, all] = await Promise.all([
    tx.row('SELECT 1 FROM account WHERE id = $1', [key.user_id]),
    countLive(tx, key.created_at, key.user_id),
    countLive(tx, key.created_at),
  ])
  if (!user) return 'absent'
  if (own >= perUser) return 'too_many_of_user'
  return all >= inAll ? 'too_many' : undefined
}

/** Adds a key, and drops the oldest dead ones of its user. */
async function addKey(tx: Transaction, { id, user_id, name, secret, created_at, expires_at, ...lists }: NewKey) {
  const { scopes, models, plugins, personas } = textsOf(lists)
  await Promise.all([
    tx.run(
      `DELETE FROM api_key WHERE id IN (SELECT k.id FROM api_key k WHERE k.user_id = $2 AND NOT (${isLive})
         ORDER BY k.created_at DESC, k.id DESC OFFSET ${mostDead - 1})`,
      [created_at, user_id],
    ),
    tx.run(
      `INSERT INTO api_key (id, user_id, name, scopes, models, plugins, personas, created_at, updated_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)`,
      [id, user_id, name, scopes, models, plugins, personas, created_at, expires_at],
    ),
    addSecret(tx, id, secret, created_at),
  ])
}

async function addSecret(tx: Transaction, id: string, { digest, last4 }: NewSecret, now: number): Promise<void> {
  await tx.run('INSERT INTO api_key_secret (digest, key_id, last4, created_at) VALUES ($1, $2, $3, $4)', [
    digest,
    id,
    last4,
    now,
  ])
}

/** Locks the rows in one order first: several processes note uses of the same keys at once. */
async function touch(tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
  const values = [uses.map(({ digest }) => digest), uses.map(({ at }) => at)]
  const asked = 'unnest($1::text[], $2::bigint[]) AS t (digest, at)'
  await Promise.all([
    tx.rows(
      `SELECT 1 FROM api_key WHERE id IN (SELECT key_id FROM api_key_secret WHERE digest = ANY($1))
       ORDER BY id FOR NO KEY UPDATE`,
      [values[0]],
    ),
    tx.run(
      `UPDATE api_key_secret s SET last_used_at = greatest(coalesce(s.last_used_at, 0), u.at)
       FROM (SELECT t.digest, max(t.at) AS at FROM ${asked} GROUP BY t.digest) u WHERE s.digest = u.digest`,
      values,
    ),
    tx.run(
      `UPDATE api_key k SET last_used_at = greatest(coalesce(k.last_used_at, 0), u.at)
       FROM (SELECT s.key_id, max(t.at) AS at FROM ${asked} JOIN api_key_secret s ON s.digest = t.digest
         GROUP BY s.key_id) u WHERE k.id = u.key_id`,
      values,
    ),
  ])
}
