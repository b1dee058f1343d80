import { type Eviction, keptEvictions, type RetentionPolicy } from '../../personas/personas.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { among, insertNamed, row, rows, run, sql, together, type Work, word } from '../port/port.ts'
import {
  byNumber,
  type Leaving,
  refuseStaying,
  refuseUncleaned,
  type Slice,
  type Stored,
  slice,
  sliceOf,
} from '../shared/memory-retention.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { isLoose, isPinnedRow } from './memory-filter.ts'

/** A scope while its memories are counted. */
export interface CountedScope {
  readonly scope_id: number
  readonly memories: number
}

/** Least worth memories that are told apart from the others to find a surplus in its place; the walk takes some milliseconds. */
const mostMarked = 50_000

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
        ORDER BY stored_at, memory_id LIMIT ${slice.memories}`,
  )
}

/** These, and then the next of the least worth until the count fits; just stored ones go last. */
export function* nextLeaving(
  index: MemoryIndex,
  { scope_id, memories }: CountedScope,
  policy: RetentionPolicy,
  old: readonly Leaving[],
  spared: readonly number[],
): Work<Slice> {
  const most = slice.memories
  const excess = policy.cleanup ? Math.max(0, memories - old.length - policy.maxMemories) : 0
  const limit = Math.min(excess, most - old.length)
  const asked = { scopeId: scope_id, staying: [...spared, ...old.map(({ memory_id }) => memory_id)], limit }
  const surplus = yield* limit > 0 && excess > most && index.walk
    ? inPlace(asked, excess, index.walk)
    : leastWorth(asked)
  return sliceOf(old, surplus, { excess, most, now: policy.now })
}

interface Surplus {
  readonly scopeId: number
  readonly staying: readonly number[]
  readonly limit: number
}

function* leastWorth({ scopeId, staying, limit }: Surplus): Work<readonly Leaving[]> {
  if (limit <= 0) return []
  const found = yield* rows<Leaving>(
    sql`SELECT ${columns} FROM memory WHERE scope_id = ${scopeId} AND ${isLoose} AND NOT memory_id ${among(staying)}
        ORDER BY worth, memory_id LIMIT ${limit}`,
  )
  return found.sort(byNumber)
}

/** A large surplus in the order of its numbers: neighbours go together, and few that stay are written again. */
function* inPlace(
  { scopeId, staying, limit }: Surplus,
  excess: number,
  walk: NonNullable<MemoryIndex['walk']>,
): Work<readonly Leaving[]> {
  const { low, high } = rangeOf(scopeId)
  const bound = yield* row<{ worth: number; memory_id: number }>(
    sql`SELECT worth, memory_id FROM memory WHERE scope_id = ${scopeId} AND ${isLoose}
          AND NOT memory_id ${among(staying)}
        ORDER BY worth, memory_id LIMIT 1 OFFSET ${Math.min(excess, mostMarked)}`,
  )
  const { worth, memory_id: number } = bound ?? { worth: Number.POSITIVE_INFINITY, memory_id: 0 }
  const after = (start: number) =>
    rows<Leaving>(
      sql`SELECT ${columns} FROM memory WHERE memory_id > ${start} AND memory_id <= ${high} AND +scope_id = ${scopeId}
            AND +pinned = 0 AND (worth, memory_id) < (${worth}, ${number}) AND NOT memory_id ${among(staying)}
          ORDER BY memory_id LIMIT ${limit}`,
    )
  const onward = walk.scopeId === scopeId ? yield* after(walk.number) : []
  const found = onward.length > 0 ? onward : yield* after(low - 1)
  walk.scopeId = scopeId
  walk.number = (found[0]?.memory_id ?? low) - 1
  return found
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
