import { AppError } from '../../errors.ts'
import {
  categoryOf,
  type Eviction,
  type Found,
  isPinned,
  type ListOptions,
  type MemoryEntry,
  type MemoryStore,
  type Metadata,
  type NewMemory,
  type RetentionPolicy,
  type Scope,
  type SearchQuery,
  type Vector,
  type WipeFilter,
} from '../../personas/memory/memory.ts'
import type { Database } from './connection.ts'
import { createPostings } from './memories-postings.ts'
import { digestOf, entryOf, evictionOf, type Row, rowOf } from './memories-rows.ts'
import { findScope, makeScope, rangeOf, type ScopeRow, takeNumbers } from './memories-scope.ts'
import { createTextIndex } from './memories-text.ts'
import { createVectorIndex } from './memories-vectors.ts'
import { giveBackPages } from './pages.ts'
import type { Quota } from './quota.ts'

type FoundRow = [
  terms: string,
  about: string,
  context: string,
  memory_id: number,
  id: string,
  content: string,
  timestamp: number,
  importance: number,
  metadata: string,
]

export interface Added {
  readonly entries: readonly MemoryEntry[]
  readonly evicted: readonly Eviction[]
}

/** Memories in SQLite: the table, the full-text index and the vectors change together or not at all, within the quota. */
export function createMemoryStore(db: Database, quota?: Quota): MemoryStore {
  const rows = memoryRows(db)
  return {
    add: async (scope, memories, policy) => {
      const add = () => {
        const stored = rows.add(scope, memories, policy)
        quota?.check(scope.userId)
        return stored
      }
      const added = db.transaction(add).immediate()
      if (added.evicted.length > 0) giveBackPages(db)
      return added
    },
    get: async (scope, id) => rows.get(scope, id),
    list: async (scope, options) => db.transaction(() => rows.list(scope, options))(),
    categories: async (scope) => rows.categories(scope),
    wipe: async (scope, filter) => {
      const wiped = db.transaction(() => rows.wipe(scope, filter)).immediate()
      if (wiped > 0) giveBackPages(db)
      return wiped
    },
    clean: async (scope, policy) => {
      const evicted = db.transaction(() => rows.clean(scope, policy)).immediate()
      if (evicted.length > 0) giveBackPages(db)
      return evicted
    },
    search: async (scope, query) => db.transaction(() => rows.search(scope, query))(),
    pending: async (scope, spaceKey, limit) => db.transaction(() => rows.pending(scope, spaceKey, limit))(),
    putVectors: async (scope, vectors) => db.transaction(() => rows.putVectors(scope, vectors)).immediate(),
    evictions: async (scope, limit) => rows.evictions(scope, limit),
  }
}

/** The same by plain calls, for transactions that span several stores; each expects to run inside one. */
export function memoryRows(db: Database) {
  const text = createTextIndex(db)
  const postings = createPostings(db)
  const vectors = createVectorIndex(db)
  const columns = 'memory_id, id, content, timestamp, importance, metadata'
  const byId = db.prepare<[number, string], Row>(`SELECT ${columns} FROM memory WHERE scope_id = ? AND id = ?`)
  const byDigest = db.prepare<[number, Buffer], Row>(`SELECT ${columns} FROM memory WHERE scope_id = ? AND digest = ?`)
  const byNumbers = db.prepare<[string, number], Row>(
    `SELECT ${columns} FROM memory WHERE memory_id IN (SELECT value FROM json_each(?)) AND +scope_id = ?`,
  )
  const found = db
    .prepare<[string, number], FoundRow>(
      `SELECT terms, about, context, memory_id, memory.id, content, timestamp, importance, metadata
         FROM json_each(?) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
        WHERE memory_id = asked.value AND +scope_id = ?`,
    )
    .raw()
  const insert = db.prepare(
    `INSERT INTO memory (memory_id, scope_id, id, content, digest, timestamp, importance, category, pinned, conversation,
       metadata) VALUES (@memory_id, @scope_id, @id, @content, @digest, @timestamp, @importance, @category, @pinned,
       @conversation, @metadata)`,
  )
  const count = db.prepare('UPDATE memory_scope SET memories = memories + ?, length = length + ? WHERE scope_id = ?')

  return { add, get, list, categories, wipe, clean, search, pending, putVectors, evictions }

  /** Stores, then enforces the policy; what was just stored goes last. */
  function add(scope: Scope, memories: readonly NewMemory[], policy: RetentionPolicy): Added {
    const row = makeScope(db, scope)
    const scopeId = row.scope_id
    const fresh: number[] = []
    const numbers = takeNumbers(db, row, memories.length)
    const stored = memories.map((memory, at) => {
      const digest = digestOf(memory)
      const known = byDigest.get(scopeId, digest)
      if (known) return renew(scopeId, known, memory)
      const number = numbers[at]!
      insert.run(rowOf(number, scopeId, memory, digest))
      fresh.push(number)
      return number
    })
    count.run(fresh.length, text.add(scopeId, fresh), scopeId)
    memories.forEach((memory, at) => {
      if (memory.vector) vectors.put(stored[at]!, memory.vector)
    })
    const found = new Map(rowsOf(scopeId, stored).map((each) => [each.memory_id, each]))
    const entries = stored.map((number) => entryOf(scope, found.get(number)!, vectors.read(number)))
    return { entries, evicted: enforce(findScope(db, scope)!, policy, stored) }
  }

  /** The same thing said again: it is newer and at least as important now. */
  function renew(scopeId: number, known: Row, memory: NewMemory): number {
    const metadata = { ...(JSON.parse(known.metadata) as Metadata), ...memory.metadata }
    const former = text.nearby(scopeId, [known.memory_id])
    db.prepare(
      `UPDATE memory SET timestamp = ?, importance = ?, metadata = ?, category = ?, pinned = ?
         WHERE memory_id = ? AND scope_id = ?`,
    ).run(
      Math.max(known.timestamp, memory.timestamp),
      Math.max(known.importance, memory.importance_score),
      JSON.stringify(metadata),
      categoryOf(metadata),
      Number(isPinned(metadata)),
      known.memory_id,
      scopeId,
    )
    text.move(scopeId, known.memory_id, former)
    return known.memory_id
  }

  function get(scope: Scope, id: string): MemoryEntry | undefined {
    const row = findScope(db, scope)
    const found = row && byId.get(row.scope_id, id)
    return found && entryOf(scope, found, vectors.read(found.memory_id))
  }

  function list(scope: Scope, options: ListOptions) {
    const row = findScope(db, scope)
    if (!row) return { entries: [], total: 0 }
    const where = options.category === undefined ? '' : 'AND category = @category'
    const values = { scope: row.scope_id, ...options }
    const found = db
      .prepare<[object], Row>(
        `SELECT ${columns} FROM memory WHERE scope_id = @scope ${where}
          ORDER BY timestamp DESC, memory_id DESC LIMIT @limit OFFSET @offset`,
      )
      .all(values)
    const total = db
      .prepare<[object], number>(`SELECT count(*) FROM memory WHERE scope_id = @scope ${where}`)
      .pluck()
      .get(values)!
    const entries = found.map((each) =>
      entryOf(scope, each, options.embeddings ? vectors.read(each.memory_id) : undefined),
    )
    return { entries, total }
  }

  function categories(scope: Scope) {
    return db
      .prepare<[number | undefined], { category: string; count: number }>(
        'SELECT category, count(*) AS count FROM memory WHERE scope_id = ? GROUP BY category ORDER BY category',
      )
      .all(findScope(db, scope)?.scope_id)
  }

  function wipe(scope: Scope, filter: WipeFilter): number {
    const row = findScope(db, scope)
    if (!row) return 0
    if (filter.category === undefined && filter.before === undefined) {
      removeScopeRows(row.scope_id)
      return row.memories
    }
    const numbers = db
      .prepare<[object], number>(
        `SELECT memory_id FROM memory WHERE scope_id = @scope AND (@category IS NULL OR category = @category)
           AND (@before IS NULL OR timestamp < @before)`,
      )
      .pluck()
      .all({ scope: row.scope_id, category: filter.category ?? null, before: filter.before ?? null })
    removeNumbers(row.scope_id, numbers)
    return numbers.length
  }

  function clean(scope: Scope, policy: RetentionPolicy): readonly Eviction[] {
    const row = findScope(db, scope)
    return row ? enforce(row, policy, []) : []
  }

  /** Removes the too old, then the least worth keeping until the count fits, and writes down what went and why. */
  function enforce(row: ScopeRow, policy: RetentionPolicy, spared: readonly number[]): readonly Eviction[] {
    const { cleanup, maxMemories, maxAge, now } = policy
    if (!cleanup) {
      if (row.memories <= maxMemories) return []
      throw new AppError('invalid', `The persona's memory is full: it may hold ${maxMemories} memories`, {
        details: ['Wipe some, raise memory_settings.max_memories, or set memory_settings.auto_cleanup to true'],
      })
    }
    const old = db
      .prepare<[number, number], Row>(
        `SELECT ${columns} FROM memory WHERE scope_id = ? AND timestamp < ? AND pinned = 0 ORDER BY timestamp`,
      )
      .all(row.scope_id, now - maxAge)
    const excess = row.memories - old.length - maxMemories
    const surplus = excess > 0 ? leastWorth(row.scope_id, policy, spared, excess) : []
    const evicted = [
      ...old.map((each) => evictionOf(each, 'retention_days', now)),
      ...surplus.map((each) => evictionOf(each, 'max_memories', now)),
    ]
    removeNumbers(
      row.scope_id,
      [...old, ...surplus].map(({ memory_id }) => memory_id),
    )
    record(row.scope_id, evicted)
    return evicted
  }

  /** A memory's worth is its importance, halved with every month of age; what was stored just now is worth keeping. */
  function leastWorth(
    scopeId: number,
    { now, maxAge }: RetentionPolicy,
    spared: readonly number[],
    limit: number,
  ): Row[] {
    return db
      .prepare<[object], Row>(
        `SELECT ${columns} FROM memory WHERE scope_id = @scope AND pinned = 0 AND timestamp >= @oldest
          ORDER BY memory_id IN (SELECT value FROM json_each(@spared)),
            (importance + 0.1) * pow(0.5, (@now - timestamp) / 2592000000.0), timestamp, memory_id LIMIT @limit`,
      )
      .all({ scope: scopeId, oldest: now - maxAge, now, spared: JSON.stringify(spared), limit })
  }

  function record(scopeId: number, evicted: readonly Eviction[]): void {
    const write = db.prepare(
      `INSERT INTO memory_eviction (scope_id, id, reason, timestamp, importance, evicted_at) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    for (const { memory_id, reason, timestamp, importance_score, evicted_at } of evicted)
      write.run(scopeId, memory_id, reason, timestamp, importance_score, evicted_at)
    if (evicted.length === 0) return
    db.prepare(
      `DELETE FROM memory_eviction WHERE scope_id = @scope AND eviction_id <= (SELECT eviction_id FROM memory_eviction
         WHERE scope_id = @scope ORDER BY eviction_id DESC LIMIT 1 OFFSET ${keptEvictions})`,
    ).run({ scope: scopeId })
  }

  function evictions(scope: Scope, limit: number): readonly Eviction[] {
    return db
      .prepare<[number | undefined, number], Eviction>(
        `SELECT id AS memory_id, reason, timestamp, importance AS importance_score, evicted_at FROM memory_eviction
          WHERE scope_id = ? ORDER BY eviction_id DESC LIMIT ?`,
      )
      .all(findScope(db, scope)?.scope_id, limit)
  }

  function search(scope: Scope, query: SearchQuery): Found {
    const row = findScope(db, scope)
    if (!row) return { memories: 0, meanLength: 0, frequencies: query.terms.map(() => 0), candidates: [] }
    const { frequencies, best } = postings.find(row, query.terms, query.candidates)
    const cosines = query.vector && vectors.search(row, query.vector, best, Math.ceil(query.candidates / 2))
    const numbers = [...new Set([...best, ...(cosines?.keys() ?? [])])]
    const candidates = found.all(JSON.stringify(numbers), row.scope_id).map(([terms, about, context, ...fields]) => {
      const [memory_id, id, content, timestamp, importance, metadata] = fields
      const cosine = cosines?.get(memory_id)
      const entry = entryOf(scope, { memory_id, id, content, timestamp, importance, metadata })
      return { entry, terms, about, context, ...(cosine !== undefined && { cosine }) }
    })
    return { memories: row.memories, meanLength: row.length / Math.max(1, row.memories), frequencies, candidates }
  }

  function pending(scope: Scope, spaceKey: string | undefined, limit: number) {
    const row = findScope(db, scope)
    if (!row) return { entries: [], total: 0 }
    const { low, high } = rangeOf(row.scope_id)
    const space = vectors.spaceId(spaceKey) ?? -1
    const total =
      row.memories -
      db
        .prepare<[number, number, number], number>(
          'SELECT count(*) FROM memory_vector WHERE memory_id BETWEEN ? AND ? AND space_id = ?',
        )
        .pluck()
        .get(low, high, space)!
    if (total === 0) return { entries: [], total }
    const found = db
      .prepare<[number, number, number], Row>(
        `SELECT ${columns} FROM memory WHERE scope_id = ? AND NOT EXISTS (SELECT 1 FROM memory_vector
           WHERE memory_vector.memory_id = memory.memory_id AND space_id = ?) ORDER BY memory_id LIMIT ?`,
      )
      .all(row.scope_id, space, limit)
    return { entries: found.map((each) => entryOf(scope, each)), total }
  }

  function putVectors(scope: Scope, made: ReadonlyMap<string, Vector>): void {
    const row = findScope(db, scope)
    if (!row) return
    for (const [id, vector] of made) {
      const found = byId.get(row.scope_id, id)
      if (found) vectors.put(found.memory_id, vector)
    }
  }

  /** The neighbours' context is written anew, so that nothing of what went stands in it. Vectors go by foreign key. */
  function removeNumbers(scopeId: number, numbers: readonly number[]): void {
    if (numbers.length === 0) return
    const near = text.nearby(scopeId, numbers)
    const length = text.length(numbers)
    const remove = db.prepare('DELETE FROM memory WHERE memory_id = ? AND scope_id = ?')
    text.remove(numbers)
    for (const number of numbers) remove.run(number, scopeId)
    text.renew(scopeId, near)
    count.run(-numbers.length, -length, scopeId)
  }

  function removeScopeRows(scopeId: number): void {
    text.removeScope(scopeId)
    vectors.removeScope(scopeId)
    db.prepare('DELETE FROM memory WHERE scope_id = ?').run(scopeId)
    db.prepare('UPDATE memory_scope SET memories = 0, length = 0 WHERE scope_id = ?').run(scopeId)
  }

  function rowsOf(scopeId: number, numbers: readonly number[]): Row[] {
    return byNumbers.all(JSON.stringify(numbers), scopeId)
  }
}

/** Removes all memories of a persona whoever's they are, before the persona itself goes. Expects a transaction. */
export function removeMemoriesOf(db: Database, personaId: string): void {
  const scopes = db.prepare<[string], number>('SELECT scope_id FROM memory_scope WHERE persona_id = ?').pluck()
  const text = createTextIndex(db)
  for (const scopeId of scopes.all(personaId)) {
    text.removeScope(scopeId)
    db.prepare('DELETE FROM memory_scope WHERE scope_id = ?').run(scopeId)
  }
}

/** How many evictions a scope remembers. */
const keptEvictions = 1000
