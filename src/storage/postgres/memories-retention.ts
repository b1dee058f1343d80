import { type Eviction, keptEvictions, type RetentionPolicy } from '../../personas/memory/memory.ts'
import {
  byNumber,
  type Leaving,
  noSlice,
  refuseStaying,
  refuseUncleaned,
  type Slice,
  type Stored,
  slice,
  sliceOf,
} from '../shared/memory-retention.ts'
import { insertRows } from './insert-rows.ts'
import type { Transaction } from './sql.ts'

/** A scope while its memories are counted. */
export interface CountedScope {
  readonly scope_id: number
  readonly memories: number
}

const columns = 'memory_id, id, timestamp, importance, char_length(content) AS size'

/** Throws `invalid` when the stored and the pinned memories together are too many. */
export async function refuseFull(
  tx: Transaction,
  { scope_id, memories }: CountedScope,
  policy: RetentionPolicy,
  stored: Stored,
): Promise<void> {
  if (memories <= policy.maxMemories) return
  if (!policy.cleanup) return refuseUncleaned(policy, stored)
  if (stored.fresh + stored.newlyPinned === 0) return
  const row = await tx.row<{ staying: number }>(
    `SELECT (SELECT count(*) FROM memory WHERE scope_id = $1 AND pinned)
          + (SELECT count(*) FROM memory WHERE memory_id = ANY ($2) AND NOT pinned) AS staying`,
    [scope_id, stored.fresh === 0 ? [] : stored.numbers],
  )
  refuseStaying(policy, row!.staying)
}

/** The next of the too old, then of the least worth until the count fits; just stored ones go last. */
export async function nextLeaving(
  tx: Transaction,
  { scope_id, memories }: CountedScope,
  { cleanup, maxMemories, maxAge, now }: RetentionPolicy,
  spared: readonly number[],
): Promise<Slice> {
  if (!cleanup) return noSlice
  const most = slice.memories
  const old = await tx.rows<Leaving>(
    `SELECT ${columns} FROM memory WHERE scope_id = $1 AND NOT pinned AND stored_at < $2
      ORDER BY stored_at, memory_id LIMIT $3`,
    [scope_id, now - maxAge, most],
  )
  const excess = Math.max(0, memories - old.length - maxMemories)
  const limit = Math.min(excess, most - old.length)
  const staying = [...spared, ...old.map(({ memory_id }) => memory_id)]
  const surplus =
    limit <= 0
      ? []
      : await tx.rows<Leaving>(
          `SELECT ${columns} FROM memory WHERE scope_id = $1 AND NOT pinned AND memory_id <> ALL ($2)
            ORDER BY worth, memory_id LIMIT $3`,
          [scope_id, staying, limit],
        )
  return sliceOf(old, surplus.sort(byNumber), { excess, most, now })
}

/** Records the evictions; the newest are kept. */
export async function recordEvictions(tx: Transaction, scopeId: number, evicted: readonly Eviction[]): Promise<void> {
  if (evicted.length === 0) return
  await Promise.all([
    insertRows(
      tx,
      'memory_eviction',
      {
        scope_id: 'int',
        id: 'text',
        reason: 'text',
        timestamp: 'bigint',
        importance: 'double precision',
        evicted_at: 'bigint',
      },
      evicted.map(({ memory_id, importance_score, ...row }) => ({
        ...row,
        scope_id: scopeId,
        id: memory_id,
        importance: importance_score,
      })),
    ),
    tx.run(
      `DELETE FROM memory_eviction WHERE scope_id = $1 AND eviction_id <= (SELECT eviction_id FROM memory_eviction
         WHERE scope_id = $1 ORDER BY eviction_id DESC LIMIT 1 OFFSET ${keptEvictions})`,
      [scopeId],
    ),
  ])
}
