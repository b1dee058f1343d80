import { type Eviction, keptEvictions, type RetentionPolicy } from '../../personas/memory/memory.ts'
import {
  byNumber,
  type Leaving,
  noSlice,
  refuseStaying,
  refuseUncleaned,
  type Slice,
  type Stored,
  sliceOf,
} from '../shared/memory-retention.ts'
import { rangeOf, type ScopeRow } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'

/**
 * Rows of the full-text index that an eviction writes in one transaction: the evicted ones, and their neighbours with
 * their context written anew. Each costs about a millisecond, since its words are overwritten in the index.
 */
export const rowsAtOnce = 16

/** Least worth memories that are told apart from the others to find a surplus in its place; the walk takes some milliseconds. */
const mostMarked = 50_000

/** Applies a persona's retention policy. Every method expects to run inside the caller's transaction. */
export function createRetention(db: Database) {
  const columns = 'memory_id, id, timestamp, importance, length(content) AS size'
  const expired = db.prepare<[number, number, number], Leaving>(
    `SELECT ${columns} FROM memory WHERE scope_id = ? AND pinned = 0 AND stored_at < ?
      ORDER BY stored_at, memory_id LIMIT ?`,
  )
  const leastWorth = db.prepare<[object], Leaving>(
    `SELECT ${columns} FROM memory WHERE scope_id = @scope AND pinned = 0
        AND memory_id NOT IN (SELECT value FROM json_each(@spared))
      ORDER BY worth, memory_id LIMIT @limit`,
  )
  const leastStaying = db.prepare<[object], { worth: number; memory_id: number }>(
    `SELECT worth, memory_id FROM memory WHERE scope_id = @scope AND pinned = 0
        AND memory_id NOT IN (SELECT value FROM json_each(@spared))
      ORDER BY worth, memory_id LIMIT 1 OFFSET @marked`,
  )
  const surplusInPlace = db.prepare<[object], Leaving>(
    `SELECT ${columns} FROM memory WHERE memory_id > @after AND memory_id <= @high AND +scope_id = @scope AND +pinned = 0
        AND (worth, memory_id) < (@worth, @number) AND memory_id NOT IN (SELECT value FROM json_each(@spared))
      ORDER BY memory_id LIMIT @limit`,
  )
  /** How far the surplus of a scope was removed: the memories before are not looked at again until the end is reached. */
  let place = { scopeId: 0, number: 0 }
  const pinned = db.prepare<[number], number>('SELECT count(*) FROM memory WHERE scope_id = ? AND pinned = 1').pluck()
  const looseAmong = db
    .prepare<[string], number>(
      'SELECT count(*) FROM json_each(?) AS asked CROSS JOIN memory WHERE memory_id = asked.value AND pinned = 0',
    )
    .pluck()
  const write = db.prepare(
    'INSERT INTO memory_eviction (scope_id, id, reason, timestamp, importance, evicted_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const forget = db.prepare(
    `DELETE FROM memory_eviction WHERE scope_id = @scope AND eviction_id <= (SELECT eviction_id FROM memory_eviction
       WHERE scope_id = @scope ORDER BY eviction_id DESC LIMIT 1 OFFSET ${keptEvictions})`,
  )

  return { refuseFull, next, record }

  /** Throws `invalid` when the stored and the pinned memories together are too many. */
  function refuseFull(row: ScopeRow, policy: RetentionPolicy, stored: Stored): void {
    if (row.memories <= policy.maxMemories) return
    if (!policy.cleanup) return refuseUncleaned(policy, stored)
    if (stored.fresh + stored.newlyPinned === 0) return
    const loose = stored.fresh === 0 ? 0 : looseAmong.get(JSON.stringify(stored.numbers))!
    const staying = pinned.get(row.scope_id)! + loose
    refuseStaying(policy, staying)
  }

  /** The next `most` of the too old, then of the least worth until the count fits; just stored ones go last. */
  function next(row: ScopeRow, policy: RetentionPolicy, spared: readonly number[], most: number): Slice {
    const { cleanup, maxMemories, maxAge, now } = policy
    if (!cleanup) return noSlice
    const old = expired.all(row.scope_id, now - maxAge, most)
    const excess = Math.max(0, row.memories - old.length - maxMemories)
    const limit = Math.min(excess, most - old.length)
    const staying = [...spared, ...old.map(({ memory_id }) => memory_id)]
    const asked = { scope: row.scope_id, spared: JSON.stringify(staying), limit }
    const surplus = limit <= 0 ? [] : excess > most ? inPlace(asked, excess) : leastWorth.all(asked).sort(byNumber)
    return sliceOf(old, surplus, { excess, most, now })
  }

  /** A large surplus in the order of its numbers: neighbours go together, and few that stay are written anew. */
  function inPlace(asked: { scope: number; spared: string; limit: number }, excess: number): Leaving[] {
    const { low, high } = rangeOf(asked.scope)
    const bound = leastStaying.get({ ...asked, marked: Math.min(excess, mostMarked) })
    const { worth, memory_id: number } = bound ?? { worth: Number.POSITIVE_INFINITY, memory_id: 0 }
    const after = (start: number) => surplusInPlace.all({ ...asked, high, worth, number, after: start })
    const onward = place.scopeId === asked.scope ? after(place.number) : []
    const found = onward.length > 0 ? onward : after(low - 1)
    place = { scopeId: asked.scope, number: (found[0]?.memory_id ?? low) - 1 }
    return found
  }

  /** Records the evictions. */
  function record(scopeId: number, evicted: readonly Eviction[]): void {
    for (const { memory_id, reason, timestamp, importance_score, evicted_at } of evicted)
      write.run(scopeId, memory_id, reason, timestamp, importance_score, evicted_at)
    if (evicted.length > 0) forget.run({ scope: scopeId })
  }
}
