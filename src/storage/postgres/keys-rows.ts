import type { ApiKey, KeyQuery, KeySecret, LiveKey } from '../../accounts/keys/store.ts'
import { type KeyRow, keyOf, type LiveRow, liveOf, mostUnused } from '../shared/key-rows.ts'
import type { Sql } from './sql.ts'

/** The condition of a live key `k` at the time of the first parameter. */
export const isLive = `k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $1)
  AND EXISTS (SELECT 1 FROM account u WHERE u.id = k.user_id)`

const columns = 'SELECT k.*, u.username FROM api_key k LEFT JOIN account u ON u.id = k.user_id'

export async function findKey(sql: Sql, id: string): Promise<ApiKey | undefined> {
  const rows = await sql.rows<KeyRow>(`${columns} WHERE k.id = $1`, [id])
  return (await withSecrets(sql, rows))[0]
}

/** A page of the keys of one user, or of all, with the number of all. */
export async function listKeys(sql: Sql, { userId = null, limit, offset }: Omit<KeyQuery, 'userId'> & Asked) {
  const isAsked = '($1::text IS NULL OR k.user_id = $1)'
  const [rows, counted] = await Promise.all([
    sql.rows<KeyRow>(`${columns} WHERE ${isAsked} ORDER BY k.created_at, k.id LIMIT $2 OFFSET $3`, [
      userId,
      limit,
      offset,
    ]),
    sql.row<{ total: number }>(`SELECT count(*) AS total FROM api_key k WHERE ${isAsked}`, [userId]),
  ])
  return { keys: await withSecrets(sql, rows), total: counted!.total }
}

interface Asked {
  readonly userId?: string | null | undefined
}

/** Live keys that were neither made nor used since then. */
export async function unusedKeys(sql: Sql, since: number, now: number): Promise<readonly ApiKey[]> {
  const rows = await sql.rows<KeyRow>(
    `${columns} WHERE ${isLive} AND greatest(k.created_at, coalesce(k.last_used_at, 0)) < $2
     ORDER BY k.created_at, k.id LIMIT ${mostUnused}`,
    [now, since],
  )
  return withSecrets(sql, rows)
}

/** Keys as they are now, by the digests of their secrets. */
export async function findLive(sql: Sql, digests: readonly string[]): Promise<ReadonlyMap<string, LiveKey>> {
  const rows = await sql.rows<LiveRow & { digest: string }>(
    `SELECT s.digest, k.id, k.user_id, u.username, u.role, k.scopes, k.models, k.plugins, k.personas, k.expires_at,
       k.revoked_at, s.valid_until
     FROM api_key_secret s JOIN api_key k ON k.id = s.key_id LEFT JOIN account u ON u.id = k.user_id
     WHERE s.digest = ANY($1)`,
    [digests],
  )
  return new Map(rows.map(({ digest, ...row }) => [digest, liveOf(digest, row)]))
}

/** Counts live keys, of one user or of all. */
export async function countLive(sql: Sql, now: number, userId?: string): Promise<number> {
  const isAsked = userId === undefined ? '' : 'k.user_id = $2 AND'
  const counted = await sql.row<{ live: number }>(`SELECT count(*) AS live FROM api_key k WHERE ${isAsked} ${isLive}`, [
    now,
    ...(userId === undefined ? [] : [userId]),
  ])
  return counted!.live
}

async function withSecrets(sql: Sql, rows: readonly KeyRow[]): Promise<readonly ApiKey[]> {
  if (rows.length === 0) return []
  const secrets = await sql.rows<KeySecret & { key_id: string }>(
    `SELECT key_id, last4, created_at, valid_until, last_used_at FROM api_key_secret WHERE key_id = ANY($1)
     ORDER BY valid_until IS NOT NULL, created_at DESC`,
    [rows.map(({ id }) => id)],
  )
  const byKey = new Map<string, KeySecret[]>(rows.map(({ id }) => [id, []]))
  for (const { key_id, ...secret } of secrets) byKey.get(key_id)?.push(secret)
  return rows.map((row) => keyOf(row, byKey.get(row.id)!))
}
