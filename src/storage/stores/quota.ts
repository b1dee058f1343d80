import { row, sql, type Work } from '../port/port.ts'
import { refuseOver, type StoredLimits } from '../shared/limits.ts'

/**
 * Throws `too_large` when an owner stores more than is allowed; without limits never. For the transaction that writes, after
 * the write: the owner's counter is locked then, so that two writes at once cannot exceed the limit together. `coming` counts
 * data that is about to be stored. One row is read, however much is stored.
 */
export function* checkQuota(
  limits: StoredLimits | undefined,
  owner: string,
  { memories = 0, bytes = 0 }: Partial<StoredLimits> = {},
): Work<void> {
  if (!limits) return
  const there = yield* row<StoredLimits>(sql`SELECT memories, bytes FROM user_usage WHERE user_id = ${owner}`)
  refuseOver(limits, { memories: (there?.memories ?? 0) + memories, bytes: (there?.bytes ?? 0) + bytes })
}
