import { refuseOver, type StoredLimits } from '../shared/limits.ts'
import type { Sql } from './sql.ts'

/**
 * Throws `too_large` when an owner has more than is allowed. In the transaction that stores something, after it is stored: the
 * owner's counter is locked then, so that two writes at once do not exceed together what each may store. `coming` is about to
 * be stored.
 */
export async function checkQuota(
  sql: Sql,
  limits: StoredLimits,
  owner: string,
  { memories = 0, bytes = 0 }: Partial<StoredLimits> = {},
): Promise<void> {
  const there = (await sql.row<StoredLimits>('SELECT memories, bytes FROM user_usage WHERE user_id = $1', [owner])) ?? {
    memories: 0,
    bytes: 0,
  }
  refuseOver(limits, { memories: there.memories + memories, bytes: there.bytes + bytes })
}
