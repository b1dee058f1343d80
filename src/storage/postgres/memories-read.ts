import type { Eviction, ListOptions, MemoryEntry, PendingPage, Scope, Unexpired } from '../../personas/memory/memory.ts'
import { entryOf, type Row } from '../shared/memory-rows.ts'
import { conditionsOf, Parameters } from './memories-filter.ts'
import { isScope, valuesOfScope } from './memories-scope.ts'
import { joinedVector, type VectorRow, vectorColumns, vectorIn } from './memories-vectors.ts'
import type { Sql } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

const columns = 'memory.memory_id, memory.id, memory.content, memory.timestamp, memory.importance, memory.metadata'
const ofScope = `FROM memory_scope JOIN memory USING (scope_id) WHERE ${isScope}`

/** Each read is one statement, and so sees one state of the database. */
export async function getMemory(
  sql: Sql,
  column: VectorColumn,
  scope: Scope,
  id: string,
  { since = Number.MIN_SAFE_INTEGER }: Unexpired = {},
): Promise<MemoryEntry | undefined> {
  const row = await sql.row<Row & VectorRow>(
    `SELECT ${columns}, ${vectorColumns(column)} FROM memory_scope JOIN memory USING (scope_id) ${joinedVector}
      WHERE ${isScope} AND memory.id = $3 AND (pinned OR stored_at >= $4)`,
    [...valuesOfScope(scope), id, since],
  )
  return row && entryOf(scope, row, vectorIn(row))
}

/** The total stands in each row, and in one without a memory where the page is empty. */
export async function listMemories(sql: Sql, column: VectorColumn, scope: Scope, options: ListOptions) {
  const { limit, offset, embeddings, since, ...filter } = options
  const parameters = new Parameters(valuesOfScope(scope))
  const conditions = conditionsOf(filter, parameters)
  const isExpired = since === undefined ? undefined : `NOT pinned AND stored_at < ${parameters.add(since)}`
  const passing = ['memory.scope_id = s.scope_id', ...conditions, ...(isExpired ? [`NOT (${isExpired})`] : [])]
  const count = (where: readonly string[]) => `(SELECT count(*) FROM memory WHERE ${where.join(' AND ')})`
  // Few have expired, if any: they are counted, where the others are known.
  const total =
    conditions.length > 0
      ? count(passing)
      : `s.memories - ${isExpired ? count(['memory.scope_id = s.scope_id', isExpired]) : '0'}`
  const rows = await sql.rows<{ total: number } & (Row | { memory_id: null }) & VectorRow>(
    `SELECT ${total} AS total, page.*
       FROM (SELECT scope_id, memories FROM memory_scope WHERE ${isScope}) s LEFT JOIN LATERAL (
         SELECT ${columns}${embeddings ? `, ${vectorColumns(column)}` : ''} FROM memory ${embeddings ? joinedVector : ''}
          WHERE ${passing.join(' AND ')}
          ORDER BY memory.timestamp DESC, memory.memory_id DESC
          LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}) page ON true
      ORDER BY page.timestamp DESC, page.memory_id DESC`,
    parameters.values,
  )
  const entries = rows.flatMap((row) =>
    row.memory_id === null ? [] : [entryOf(scope, row, embeddings ? vectorIn(row) : undefined)],
  )
  return { entries, total: Number(rows[0]?.total ?? 0) }
}

/** The categories of a scope's unexpired memories, with their numbers of memories. */
export function memoryCategories(sql: Sql, scope: Scope, { since = Number.MIN_SAFE_INTEGER }: Unexpired) {
  return sql.rows<{ category: string; count: number }>(
    `SELECT category, count(*) AS count ${ofScope} AND (pinned OR stored_at >= $3) GROUP BY category ORDER BY category`,
    [...valuesOfScope(scope), since],
  )
}

/** Memories that are looked at in one statement for whether they have a vector. */
const pendingAtOnce = 2000

/** Memories from number `from` on without a vector of the space, and the number to go on from. */
export async function pendingMemories(
  sql: Sql,
  scope: Scope,
  spaceKey: string | undefined,
  from: number,
  limit: number,
): Promise<PendingPage> {
  // Walks on behind the last memory that was looked at, where it has a vector or not.
  const rows = await sql.rows<Row & { seen: number; last: number; wanted: boolean }>(
    `WITH seen AS MATERIALIZED (
         SELECT memory.memory_id, v.space_id IS DISTINCT FROM
             coalesce((SELECT space_id FROM embedding_space WHERE key = $3), -1) AS wanted
           FROM memory_scope JOIN memory USING (scope_id) LEFT JOIN memory_vector v ON v.memory_id = memory.memory_id
          WHERE ${isScope} AND memory.memory_id >= $4 AND memory.memory_id >> 24 = memory_scope.scope_id
          ORDER BY memory.memory_id LIMIT ${pendingAtOnce}),
       page AS (SELECT memory_id FROM seen WHERE wanted ORDER BY memory_id LIMIT $5)
     SELECT ${columns}, (SELECT count(*) FROM seen) AS seen, (SELECT max(memory_id) FROM seen) AS last
       FROM (VALUES (1)) one LEFT JOIN page ON true LEFT JOIN memory USING (memory_id) ORDER BY memory_id`,
    [...valuesOfScope(scope), spaceKey ?? null, from, limit],
  )
  const { seen, last } = rows[0]!
  const entries = rows.flatMap((row) => (row.memory_id === null ? [] : [entryOf(scope, row)]))
  const isFull = entries.length >= limit
  if (seen < pendingAtOnce && !isFull) return { entries }
  const end = isFull ? rows.at(-1)!.memory_id : last
  return end === null ? { entries } : { entries, next: end + 1 }
}

/** A number that rises with every change of the scope's lorebook; 0 without one. */
export async function loreVersion(sql: Sql, scope: Scope): Promise<number> {
  const row = await sql.row<{ lore: number }>(`SELECT lore FROM memory_scope WHERE ${isScope}`, valuesOfScope(scope))
  return row?.lore ?? 0
}

/** Unexpired lorebook entries from number `from` on, and the number to go on from. */
export async function loreMemories(
  sql: Sql,
  scope: Scope,
  { since = Number.MIN_SAFE_INTEGER }: Unexpired,
  from: number,
  limit: number,
): Promise<PendingPage> {
  const rows = await sql.rows<Row>(
    `SELECT ${columns} ${ofScope} AND is_lore AND memory.memory_id >= $3 AND (pinned OR stored_at >= $4)
      ORDER BY memory.memory_id LIMIT $5`,
    [...valuesOfScope(scope), from, since, limit],
  )
  const entries = rows.map((row) => entryOf(scope, row))
  return rows.length < limit ? { entries } : { entries, next: rows.at(-1)!.memory_id + 1 }
}

/** The latest evictions of a scope, newest first. */
export function evictionsOf(sql: Sql, scope: Scope, limit: number): Promise<Eviction[]> {
  return sql.rows<Eviction>(
    `SELECT e.id AS memory_id, reason, timestamp, importance AS importance_score, evicted_at
       FROM memory_scope JOIN memory_eviction e USING (scope_id) WHERE ${isScope} ORDER BY eviction_id DESC LIMIT $3`,
    [...valuesOfScope(scope), limit],
  )
}
