import type {
  Candidate,
  Eviction,
  Found,
  ListOptions,
  MemoryEntry,
  MemoryFilter,
  PendingPage,
  Scope,
  SearchQuery,
  Unexpired,
} from '../../personas/memory/memory.ts'
import { type CandidateRow, candidateOf, entryOf, memoryColumns, type Row } from '../shared/memory-rows.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { isLoreRow } from './lore-schema.ts'
import { conditionsOf, createFilters, valuesOfFilter } from './memories-filter.ts'
import { createPostings } from './memories-postings.ts'
import { findScope } from './memories-scope.ts'
import { createVectorIndex } from './memories-vectors.ts'
import { sketchesOf } from './sketches.ts'

/** The candidates of a search before their rows are read. */
export interface Chosen {
  readonly figures: Pick<Found, 'memories' | 'meanLength' | 'frequencies'>
  /** Their numbers and how many bytes of text each has, those by words first, the best at the front. */
  readonly sizes: readonly (readonly [number: number, bytes: number])[]
  readonly scopeId: number
  readonly cosines: ReadonlyMap<number, number> | undefined
}

/** Reads memories by plain calls; `get`, `list`, `categories`, `choose` and `pending` expect to run inside a transaction. */
export function createMemoryReader(db: Database) {
  const filtering = createFilters(db)
  const postings = createPostings(db)
  const vectors = createVectorIndex(db, sketchesOf(db))
  const byId = db.prepare<[number, string, number], Row>(
    `SELECT ${memoryColumns} FROM memory WHERE scope_id = ? AND id = ? AND (pinned = 1 OR stored_at >= ?)`,
  )
  const byNumbers = db.prepare<[string, number], Row>(
    `SELECT ${memoryColumns} FROM memory WHERE memory_id IN (SELECT value FROM json_each(?)) AND +scope_id = ?`,
  )
  const found = db.prepare<[string, number, number], CandidateRow>(
    `SELECT terms, about, context, memory_id, memory.id, content, timestamp, importance, metadata
       FROM json_each(?) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
      WHERE memory_id = asked.value AND +scope_id = ? AND (pinned = 1 OR stored_at >= ?)`,
  )
  // SQLite knows the length of a text in bytes without reading it.
  const sizes = db
    .prepare<[string], [number, number]>(
      `SELECT memory_id, octet_length(terms) + octet_length(context) + octet_length(content)
         FROM json_each(?) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
        WHERE memory_id = asked.value`,
    )
    .raw()
  const anyExpired = db
    .prepare<[number, number], 0 | 1>(
      'SELECT EXISTS (SELECT 1 FROM memory WHERE scope_id = ? AND pinned = 0 AND stored_at < ?)',
    )
    .pluck()
  const lookedAt = db
    .prepare<[number, number], [number, number | null]>(
      `SELECT memory_id, space_id FROM memory_terms LEFT JOIN memory_vector USING (memory_id)
        WHERE memory_id BETWEEN ? AND ? ORDER BY memory_id LIMIT ${pendingAtOnce}`,
    )
    .raw()

  const countedLore = db
    .prepare<[string, string], number>('SELECT lore FROM memory_scope WHERE persona_id = ? AND user_id = ?')
    .pluck()
  const loreAfter = db.prepare<[number, number, number, number], Row>(
    `SELECT ${memoryColumns} FROM memory INDEXED BY memory_lore
      WHERE scope_id = ? AND memory_id >= ? AND ${isLoreRow} AND (pinned = 1 OR stored_at >= ?)
      ORDER BY memory_id LIMIT ?`,
  )

  return { get, list, categories, choose, candidates, pending, loreVersion, lore, evictions }

  function get(scope: Scope, id: string, { since = Number.MIN_SAFE_INTEGER }: Unexpired = {}): MemoryEntry | undefined {
    const row = findScope(db, scope)
    const found = row && byId.get(row.scope_id, id, since)
    return found && entryOf(scope, found, vectors.read(found.memory_id))
  }

  function list(scope: Scope, { limit, offset, embeddings, since: start, ...filter }: ListOptions) {
    const row = findScope(db, scope)
    if (!row) return { entries: [], total: 0 }
    const since = expiry(row.scope_id, start === undefined ? {} : { since: start })
    const values = { ...valuesOfFilter(filter), scope: row.scope_id, limit, offset, since }
    const where = whereOf(filter, since)
    const found = db
      .prepare<[object], Row>(
        `SELECT ${memoryColumns} FROM memory WHERE ${where}
          ORDER BY timestamp DESC, memory_id DESC LIMIT @limit OFFSET @offset`,
      )
      .all(values)
    const counted = () =>
      db.prepare<[object], number>(`SELECT count(*) FROM memory WHERE ${where}`).pluck().get(values)!
    const isWhole = conditionsOf(filter).length === 0 && since === undefined
    const total = isWhole ? row.memories : counted()
    const entries = found.map((each) => entryOf(scope, each, embeddings ? vectors.read(each.memory_id) : undefined))
    return { entries, total }
  }

  function categories(scope: Scope, unexpired: Unexpired) {
    const row = findScope(db, scope)
    if (!row) return []
    const since = expiry(row.scope_id, unexpired)
    return db
      .prepare<[object], { category: string; count: number }>(
        `SELECT category, count(*) AS count FROM memory WHERE ${whereOf({}, since)}
          GROUP BY category ORDER BY category`,
      )
      .all({ scope: row.scope_id, since })
  }

  /** The time before which memories have expired; undefined where none has, as nearly always. */
  function expiry(scopeId: number, { since }: Unexpired): number | undefined {
    return since !== undefined && anyExpired.get(scopeId, since) === 1 ? since : undefined
  }

  /** The first half of a search: which memories to read. Undefined without any. */
  function choose(scope: Scope, query: SearchQuery): Chosen | undefined {
    const row = findScope(db, scope)
    if (!row) return undefined
    const passing = filtering.passing(row, query.filter, query.candidates)
    const { frequencies, best } = postings.find(row, query, passing)
    const cosines = query.vector && vectors.search(row, query.vector, best, Math.ceil(query.candidates / 2), passing)
    const numbers = [...new Set([...best, ...(cosines?.keys() ?? [])])]
    const figures = { memories: row.memories, meanLength: row.length / Math.max(1, row.memories), frequencies }
    return { figures, sizes: sizes.all(JSON.stringify(numbers)), scopeId: row.scope_id, cosines }
  }

  /** Some of the chosen, in their order; those that have gone meanwhile are left out. */
  function candidates(
    scope: Scope,
    { scopeId, cosines }: Chosen,
    numbers: readonly number[],
    { since = Number.MIN_SAFE_INTEGER }: Unexpired,
  ): readonly Candidate[] {
    const rows = found.all(JSON.stringify(numbers), scopeId, since)
    return rows.map((row) => candidateOf(scope, row, cosines?.get(row.memory_id)))
  }

  function pending(scope: Scope, spaceKey: string | undefined, from: number, limit: number): PendingPage {
    const row = findScope(db, scope)
    if (!row) return { entries: [] }
    const { low, high } = rangeOf(row.scope_id)
    const space = vectors.spaceId(spaceKey) ?? -1
    const seen = lookedAt.all(Math.max(low, from), high)
    const numbers = seen.filter(([, has]) => has !== space).slice(0, limit)
    const entries = byNumbers
      .all(JSON.stringify(numbers.map(([number]) => number)), row.scope_id)
      .map((each) => entryOf(scope, each))
    const isEnd = seen.length < pendingAtOnce && numbers.length < limit
    const last = numbers.length < limit ? seen.at(-1) : numbers.at(-1)
    return { entries, ...(!isEnd && last && { next: last[0] + 1 }) }
  }

  function loreVersion(scope: Scope): number {
    return countedLore.get(scope.personaId, scope.userId) ?? 0
  }

  function lore(
    scope: Scope,
    { since = Number.MIN_SAFE_INTEGER }: Unexpired,
    from: number,
    limit: number,
  ): PendingPage {
    const row = findScope(db, scope)
    if (!row) return { entries: [] }
    const rows = loreAfter.all(row.scope_id, from, since, limit)
    const entries = rows.map((each) => entryOf(scope, each))
    return rows.length < limit ? { entries } : { entries, next: rows.at(-1)!.memory_id + 1 }
  }

  function evictions(scope: Scope, limit: number): readonly Eviction[] {
    return db
      .prepare<[number | undefined, number], Eviction>(
        `SELECT id AS memory_id, reason, timestamp, importance AS importance_score, evicted_at FROM memory_eviction
          WHERE scope_id = ? ORDER BY eviction_id DESC LIMIT ?`,
      )
      .all(findScope(db, scope)?.scope_id, limit)
  }
}

/** Memories that are looked at in one transaction for whether they have a vector. */
const pendingAtOnce = 2000

/** The conditions that memories of a list meet, for `@scope`, `@since` and the values of the filter. */
function whereOf(filter: MemoryFilter, since: number | undefined): string {
  return [
    'scope_id = @scope',
    ...conditionsOf(filter),
    ...(since === undefined ? [] : ['(pinned = 1 OR stored_at >= @since)']),
  ].join(' AND ')
}
