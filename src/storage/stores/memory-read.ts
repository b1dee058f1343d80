import type { Eviction, ListOptions, MemoryEntry, PendingPage, Scope, Unexpired } from '../../personas/personas.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { greatest, row, rows, type Statement, sql, type Work, word } from '../port/port.ts'
import { entryOf, type Row } from '../shared/memory-rows.ts'
import { width } from '../shared/memory-scope.ts'
import { conditionOf, isLoose, isUnexpired } from './memory-filter.ts'
import { scopeId } from './memory-scope.ts'
import { joinedVector, type VectorRow, vectorColumns, vectorIn } from './memory-vectors.ts'

/** The columns of a `Row`. */
const columns = word(
  'memory.memory_id, memory.id, memory.content, memory.timestamp, memory.importance, memory.metadata',
)

/** Each read is one statement, and so sees one state of the database. */
export function* getMemory(
  index: MemoryIndex,
  scope: Scope,
  id: string,
  { since }: Unexpired = {},
): Work<{ readonly row: Row; readonly entry: MemoryEntry } | undefined> {
  const found = yield* row<Row & VectorRow>(
    sql`SELECT ${columns}, ${vectorColumns(index)} FROM memory ${joinedVector}
        WHERE memory.scope_id = ${scopeId(scope)} AND memory.id = ${id} AND ${isUnexpired(since)}`,
  )
  return found && { row: found, entry: entryOf(scope, found, vectorIn(index, found)) }
}

/** The total is in each row, and in one without a memory where the page is empty. */
export function* listMemories(index: MemoryIndex, scope: Scope, options: ListOptions) {
  const { limit, offset, embeddings, since, ...filter } = options
  const condition = conditionOf(filter)
  const ofScope = sql`memory.scope_id = ${scopeId(scope)}`
  const isListed = sql`${ofScope} AND ${condition ?? sql`true`} AND ${since === undefined ? sql`true` : isUnexpired(since)}`
  const count = (where: Statement) => sql`(SELECT count(*) FROM memory WHERE ${where})`
  // Few have expired, if any: they are counted, where the others are known.
  const expired = since === undefined ? sql`0` : count(sql`${ofScope} AND ${isLoose} AND stored_at < ${since}`)
  const found = yield* rows<{ total: number } & (Row | { memory_id: null }) & VectorRow>(
    sql`SELECT ${condition ? count(isListed) : sql`s.memories - ${expired}`} AS total, page.*
        FROM (SELECT memories FROM memory_scope WHERE scope_id = ${scopeId(scope)}) s LEFT JOIN (
          SELECT ${columns} ${embeddings ? sql`, ${vectorColumns(index)}` : sql``}
            FROM memory ${embeddings ? sql`${joinedVector}` : sql``} WHERE ${isListed}
           ORDER BY memory.timestamp DESC, memory.memory_id DESC LIMIT ${limit} OFFSET ${offset}) page ON true`,
  )
  const page = found.flatMap((each) => (each.memory_id === null ? [] : [each]))
  // A join promises no order.
  page.sort((one, other) => other.timestamp - one.timestamp || other.memory_id - one.memory_id)
  const entries = page.map((each) => entryOf(scope, each, embeddings ? vectorIn(index, each) : undefined))
  return { entries, total: Number(found[0]?.total ?? 0) }
}

/** The categories of a scope's unexpired memories, with their numbers of memories. */
export function memoryCategories(scope: Scope, { since }: Unexpired): Work<{ category: string; count: number }[]> {
  return rows(
    sql`SELECT category, count(*) AS count FROM memory WHERE scope_id = ${scopeId(scope)} AND ${isUnexpired(since)}
        GROUP BY category ORDER BY category`,
  )
}

/** Memories that are looked at in one statement for whether they have a vector. */
const pendingAtOnce = 2000

/** Memories from number `from` on without a vector of the space, and the number to go on from. */
export function* pendingMemories(
  scope: Scope,
  spaceKey: string | undefined,
  from: number,
  limit: number,
): Work<PendingPage> {
  const low = sql`(SELECT ${greatest}(CAST(scope_id AS bigint) * ${width}, CAST(${from} AS bigint))
    FROM memory_scope WHERE scope_id = ${scopeId(scope)})`
  const high = sql`(SELECT CAST(scope_id AS bigint) * ${width} + ${width - 1}
    FROM memory_scope WHERE scope_id = ${scopeId(scope)})`
  // Walks on behind the last memory that was looked at, where it has a vector or not.
  const found = yield* rows<(Row | { memory_id: null }) & { seen: number; last: number | null }>(
    sql`WITH seen AS MATERIALIZED (
          SELECT memory.memory_id, v.space_id IS DISTINCT FROM
              coalesce((SELECT space_id FROM embedding_space WHERE key = ${spaceKey}), -1) AS wanted
            FROM memory LEFT JOIN memory_vector v ON v.memory_id = memory.memory_id
           WHERE memory.memory_id BETWEEN ${low} AND ${high} ORDER BY memory.memory_id LIMIT ${pendingAtOnce})
        SELECT ${columns}, looked.seen, looked.last
          FROM (SELECT count(*) AS seen, max(memory_id) AS last FROM seen) looked
          LEFT JOIN (SELECT memory_id FROM seen WHERE wanted ORDER BY memory_id LIMIT ${limit}) page ON true
          LEFT JOIN memory ON memory.memory_id = page.memory_id`,
  )
  const { seen, last } = found[0]!
  const page = found.flatMap((each) => (each.memory_id === null ? [] : [each]))
  page.sort((one, other) => one.memory_id - other.memory_id)
  const entries = page.map((each) => entryOf(scope, each))
  const isFull = entries.length >= limit
  const end = isFull ? page.at(-1)!.memory_id : last
  return (seen < pendingAtOnce && !isFull) || end === null ? { entries } : { entries, next: end + 1 }
}

/** A memory with keys, which comes into prompts by them, by the index of these. */
const loreTable = word('memory INDEXED BY memory_lore', 'memory')
const isLore = word("json_type(metadata, '$.keys') = 'array'", 'is_lore')

/** Unexpired lorebook entries from number `from` on, and the number to go on from. */
export function* loreMemories(scope: Scope, { since }: Unexpired, from: number, limit: number): Work<PendingPage> {
  const found = yield* rows<Row>(
    sql`SELECT ${columns} FROM ${loreTable} WHERE scope_id = ${scopeId(scope)} AND ${isLore} AND memory_id >= ${from}
          AND ${isUnexpired(since)} ORDER BY memory_id LIMIT ${limit}`,
  )
  const entries = found.map((each) => entryOf(scope, each))
  return found.length < limit ? { entries } : { entries, next: found.at(-1)!.memory_id + 1 }
}

/** The latest evictions of a scope, newest first. */
export function* evictionsOf(scope: Scope, limit: number): Work<Eviction[]> {
  const found = yield* rows<Omit<Eviction, 'reason'> & { readonly reason: string }>(
    sql`SELECT id AS memory_id, reason, timestamp, importance AS importance_score, evicted_at FROM memory_eviction
        WHERE scope_id = ${scopeId(scope)} ORDER BY eviction_id DESC LIMIT ${limit}`,
  )
  // Its rank of worth stands behind the reason.
  return found.map(({ reason: recorded, ...row }) => {
    const [reason, rank] = recorded.split(' ') as [Eviction['reason'], Eviction['rank']]
    return { ...row, reason, ...(rank && { rank }) }
  })
}
