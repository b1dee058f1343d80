import { type Eviction, keptEvictions, type RetentionPolicy } from '../../personas/personas.ts'
import { among, insertNamed, row, rows, run, sql, together, type Work, word } from '../port/port.ts'
import {
  byNumber,
  type Leaving,
  refuseStaying,
  refuseUncleaned,
  type Slice,
  type Stored,
  sliceOf,
} from '../shared/memory-retention.ts'
import { isLoose, isPinnedRow } from './memory-filter.ts'

export interface CountedScope {
  readonly scope_id: number
  readonly memories: number
}

/** Memories that one transaction evicts: each, and those around it, cost about a millisecond in the full-text index. */
const evictedAtOnce = 10

const columns = word('memory_id, id, timestamp, importance, worth, length(content) AS size')

/** Throws `invalid` when the stored and the pinned memories together are too many. */
export function* refuseFull({ scope_id, memories }: CountedScope, policy: RetentionPolicy, stored: Stored): Work<void> {
  if (memories <= policy.maxMemories) return
  if (!policy.cleanup) return refuseUncleaned(policy, stored)
  if (stored.fresh + stored.newlyPinned === 0) return
  const counted = yield* row<{ staying: number }>(
    sql`SELECT (SELECT count(*) FROM memory WHERE scope_id = ${scope_id} AND ${isPinnedRow})
          + (SELECT count(*) FROM memory WHERE memory_id ${among(stored.fresh === 0 ? [] : stored.numbers)}
              AND ${isLoose}) AS staying`,
  )
  refuseStaying(policy, counted!.staying)
}

/** The next memories that are too old. */
export function* nextExpired(scopeId: number, { cleanup, maxAge, now }: RetentionPolicy): Work<readonly Leaving[]> {
  if (!cleanup) return []
  return yield* rows<Leaving>(
    sql`SELECT ${columns} FROM memory WHERE scope_id = ${scopeId} AND ${isLoose} AND stored_at < ${now - maxAge}
        ORDER BY stored_at, memory_id LIMIT ${evictedAtOnce}`,
  )
}

/** These, and then the next of the least worth until the count fits; just stored ones go last. */
export function* nextLeaving(
  { scope_id, memories }: CountedScope,
  policy: RetentionPolicy,
  old: readonly Leaving[],
  spared: readonly number[],
): Work<Slice> {
  const excess = policy.cleanup ? Math.max(0, memories - old.length - policy.maxMemories) : 0
  const limit = Math.min(excess, evictedAtOnce - old.length)
  const staying = [...spared, ...old.map(({ memory_id }) => memory_id)]
  const surplus = yield* leastWorth(scope_id, staying, limit)
  return sliceOf(old, surplus, { excess, most: evictedAtOnce, now: policy.now })
}

function* leastWorth(scopeId: number, staying: readonly number[], limit: number): Work<readonly Leaving[]> {
  if (limit <= 0) return []
  const found = yield* rows<Leaving>(
    sql`SELECT ${columns} FROM memory WHERE scope_id = ${scopeId} AND ${isLoose} AND NOT memory_id ${among(staying)}
        ORDER BY worth, memory_id LIMIT ${limit}`,
  )
  return found.sort(byNumber)
}

const eviction = {
  table: 'memory_eviction',
  columns: {
    scope_id: 'integer',
    id: 'text',
    reason: 'text',
    timestamp: 'integer',
    importance: 'real',
    evicted_at: 'integer',
  },
} as const

/** Records the evictions; the newest are kept. */
export function* recordEvictions(scopeId: number, evicted: readonly Eviction[]): Work<void> {
  if (evicted.length === 0) return
  yield* together(
    insertNamed(
      eviction,
      evicted.map(({ memory_id: id, importance_score: importance, reason, rank = '', timestamp, evicted_at }) => ({
        ...{ scope_id: scopeId, id, reason: `${reason} ${rank}`.trim() },
        ...{ timestamp, importance, evicted_at },
      })),
    ),
    run(
      sql`DELETE FROM memory_eviction WHERE scope_id = ${scopeId} AND eviction_id <= (SELECT eviction_id
            FROM memory_eviction WHERE scope_id = ${scopeId} ORDER BY eviction_id DESC LIMIT 1 OFFSET ${keptEvictions})`,
    ),
  )
}
