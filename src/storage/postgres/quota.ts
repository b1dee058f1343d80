import { refuseOver, type StoredLimits } from '../shared/limits.ts'
import type { Sql } from './sql.ts'

/**
 * Throws `too_large` when an owner stores more than is allowed. Call it in the writing transaction after the write: the
 * owner's counter is locked then, so that two writes at once cannot exceed the limit together. Arguments count data
 * that is about to be stored.
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
