import {
  categoryOf,
  type Eviction,
  type Found,
  isPinned,
  keptEvictions,
  type ListOptions,
  type MemoryEntry,
  type MemoryStore,
  type Metadata,
  type NewMemory,
  type RetentionPolicy,
  type Scope,
  type SearchQuery,
  type Unexpired,
  type Vector,
  type WipeFilter,
} from '../../personas/memory/memory.ts'
import type { Database } from './connection.ts'
import { goesOn, pauseFor, releasePages, yieldToEventLoop } from './housekeeping.ts'
import { createPostings } from './memories-postings.ts'
import { createRetention, firstSlice, rowsAtOnce, slice } from './memories-retention.ts'
import { digestOf, entryOf, type Row, rowOf, worthOf } from './memories-rows.ts'
import { findScope, makeScope, rangeOf, type ScopeRow, scopesAfter, takeNumbers } from './memories-scope.ts'
import { createTextIndex } from './memories-text.ts'
import { createVectorIndex } from './memories-vectors.ts'
import type { Quota } from './quota.ts'
import { hideMemories, removeHidden } from './removal.ts'

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
  /** Whether more has to go than one transaction takes. */
  readonly more: boolean
}

/** Memories in SQLite: the table, the full-text index and the vectors change together or not at all, within the quota. */
export function createMemoryStore(db: Database, quota?: Quota): MemoryStore {
  const rows = memoryRows(db)
  const inOneView = <T>(work: () => T): T => db.transaction(work)()
  const inOneWrite = <T>(work: () => T): T => db.transaction(work).immediate()
  return {
    async add(scope, memories, policy) {
      const { entries, evicted, more } = inOneWrite(() => {
        const stored = rows.add(scope, memories, policy)
        quota?.check(scope.userId)
        return stored
      })
      if (more) await yieldToEventLoop()
      const all = [...evicted, ...(more ? await cleaned(scope, policy) : [])]
      if (all.length > 0) await releasePages(db)
      return { entries, evicted: all.slice(0, keptEvictions) }
    },
    get: async (scope, id) => rows.get(scope, id),
    list: async (scope, options) => inOneView(() => rows.list(scope, options)),
    categories: async (scope, unexpired) => inOneView(() => rows.categories(scope, unexpired)),
    async wipe(scope, filter) {
      const wiped = isEverything(filter)
        ? inOneWrite(() => hideMemories(db, scope))
        : await wiping(scope, filter, findScope(db, scope))
      if (wiped > 0) await removeHidden(db)
      return wiped
    },
    async trim(scope, policy) {
      let more = true
      const started = performance.now()
      for (let begun = started; more && begun - started < trimMs && goesOn(db); begun = performance.now()) {
        more = inOneWrite(() => rows.clean(scope, policy)).more
        if (more) await pauseFor(performance.now() - begun)
      }
      if (!more) await releasePages(db)
      return more
    },
    async clean(scope, policy) {
      const evicted = await cleaned(scope, policy)
      if (evicted.length > 0) await releasePages(db)
      return evicted.slice(0, keptEvictions)
    },
    scopes: async (after) => scopesAfter(db, after),
    clear: () => removeHidden(db),
    search: async (scope, query) => inOneView(() => rows.search(scope, query)),
    pending: async (scope, spaceKey, from, limit) => inOneView(() => rows.pending(scope, spaceKey, from, limit)),
    putVectors: async (scope, vectors) => inOneWrite(() => rows.putVectors(scope, vectors)),
    evictions: async (scope, limit) => rows.evictions(scope, limit),
  }

  async function cleaned(scope: Scope, policy: RetentionPolicy): Promise<Eviction[]> {
    const all: Eviction[] = []
    for (let more = true; more && goesOn(db); ) {
      const slice = inOneWrite(() => rows.clean(scope, policy))
      // A scope of hundreds of thousands has as many records, of which the newest are kept.
      if (all.length < keptEvictions) all.push(...slice.evicted)
      more = slice.more
      if (slice.evicted.length > 0) await yieldToEventLoop()
    }
    return all
  }

  async function wiping(scope: Scope, filter: WipeFilter, from: ScopeRow | undefined): Promise<number> {
    let wiped = 0
    for (let more = from !== undefined; more && db.open; ) {
      const slice = inOneWrite(() => rows.wipe(scope, filter, from!.last_number))
      wiped += slice.wiped
      more = slice.more
      if (more) await yieldToEventLoop()
    }
    return wiped
  }
}

/** Milliseconds that the caller of a trim waits; it ends with the slice that is under way. */
const trimMs = 200

function isEverything({ category, before }: WipeFilter): boolean {
  return category === undefined && before === undefined
}

/** The same by plain calls, for transactions that span several stores; each expects to run inside one. */
export function memoryRows(db: Database) {
  const text = createTextIndex(db)
  const postings = createPostings(db)
  const vectors = createVectorIndex(db)
  const retention = createRetention(db)
  const columns = 'memory_id, id, content, timestamp, importance, metadata'
  const byId = db.prepare<[number, string], Row>(`SELECT ${columns} FROM memory WHERE scope_id = ? AND id = ?`)
  const byDigest = db.prepare<[number, Buffer], Row>(`SELECT ${columns} FROM memory WHERE scope_id = ? AND digest = ?`)
  const byNumbers = db.prepare<[string, number], Row>(
    `SELECT ${columns} FROM memory WHERE memory_id IN (SELECT value FROM json_each(?)) AND +scope_id = ?`,
  )
  const found = db
    .prepare<[string, number, number], FoundRow>(
      `SELECT terms, about, context, memory_id, memory.id, content, timestamp, importance, metadata
         FROM json_each(?) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
        WHERE memory_id = asked.value AND +scope_id = ? AND (pinned = 1 OR stored_at >= ?)`,
    )
    .raw()
  const insert = db.prepare(
    `INSERT INTO memory (memory_id, scope_id, id, content, digest, timestamp, importance, stored_at, worth, category,
       pinned, conversation, metadata) VALUES (@memory_id, @scope_id, @id, @content, @digest, @timestamp, @importance,
       @stored_at, @worth, @category, @pinned, @conversation, @metadata)`,
  )
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
  const count = db.prepare('UPDATE memory_scope SET memories = memories + ?, length = length + ? WHERE scope_id = ?')

  return { add, get, list, categories, wipe, clean, search, pending, putVectors, evictions }

  /** Stores, then enforces the policy; what was just stored goes last. */
  function add(scope: Scope, memories: readonly NewMemory[], policy: RetentionPolicy): Added {
    const row = makeScope(db, scope)
    const scopeId = row.scope_id
    const fresh: number[] = []
    let newlyPinned = 0
    const numbers = takeNumbers(db, row, memories.length)
    const stored = memories.map((memory, at) => {
      const digest = digestOf(memory)
      const known = byDigest.get(scopeId, digest)
      if (known) {
        const metadata = { ...(JSON.parse(known.metadata) as Metadata), ...memory.metadata }
        newlyPinned += Number(isPinned(metadata) && !isPinned(JSON.parse(known.metadata)))
        return renew(scopeId, known, { ...memory, metadata }, policy.now)
      }
      const number = numbers[at]!
      insert.run(rowOf(number, scopeId, memory, digest, policy.now))
      fresh.push(number)
      return number
    })
    count.run(fresh.length, text.add(scopeId, fresh), scopeId)
    memories.forEach((memory, at) => {
      if (memory.vector) vectors.put(stored[at]!, memory.vector)
    })
    const found = new Map(rowsOf(scopeId, stored).map((each) => [each.memory_id, each]))
    const entries = stored.map((number) => entryOf(scope, found.get(number)!, vectors.read(number)))
    const grown = findScope(db, scope)!
    retention.refuseFull(grown, policy, { numbers: stored, fresh: fresh.length, newlyPinned })
    const { evicted, more } = evict(grown, policy, stored)
    return { entries, evicted, more }
  }

  /** The same thing said again, with the metadata of both: it is newer and at least as important now. */
  function renew(scopeId: number, known: Row, memory: NewMemory, now: number): number {
    const { metadata } = memory
    const timestamp = Math.max(known.timestamp, memory.timestamp)
    const importance = Math.max(known.importance, memory.importance_score)
    // Nothing that the index says of it changes: a package that is merged twice costs no more than a look at each memory.
    const isMoved = timestamp !== known.timestamp || JSON.stringify(metadata) !== known.metadata
    const former = isMoved ? text.nearby(scopeId, [known.memory_id]) : []
    db.prepare(
      `UPDATE memory SET timestamp = ?, importance = ?, stored_at = max(stored_at, ?), worth = ?, metadata = ?,
         category = ?, pinned = ? WHERE memory_id = ? AND scope_id = ?`,
    ).run(
      timestamp,
      importance,
      memory.stored_at ?? now,
      worthOf(timestamp, importance),
      JSON.stringify(metadata),
      categoryOf(metadata),
      Number(isPinned(metadata)),
      known.memory_id,
      scopeId,
    )
    if (isMoved) text.move(scopeId, known.memory_id, former)
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
    const since = expiry(row.scope_id, options)
    const values = { scope: row.scope_id, ...options, since }
    const where = filters(options.category, since)
    const found = db
      .prepare<[object], Row>(
        `SELECT ${columns} FROM memory WHERE ${where}
          ORDER BY timestamp DESC, memory_id DESC LIMIT @limit OFFSET @offset`,
      )
      .all(values)
    const counted = () =>
      db.prepare<[object], number>(`SELECT count(*) FROM memory WHERE ${where}`).pluck().get(values)!
    const total = options.category === undefined && since === undefined ? row.memories : counted()
    const entries = found.map((each) =>
      entryOf(scope, each, options.embeddings ? vectors.read(each.memory_id) : undefined),
    )
    return { entries, total }
  }

  function categories(scope: Scope, unexpired: Unexpired) {
    const row = findScope(db, scope)
    if (!row) return []
    const since = expiry(row.scope_id, unexpired)
    return db
      .prepare<[object], { category: string; count: number }>(
        `SELECT category, count(*) AS count FROM memory WHERE ${filters(undefined, since)}
          GROUP BY category ORDER BY category`,
      )
      .all({ scope: row.scope_id, since })
  }

  /** The time before which memories have expired; undefined where none has, as nearly always. */
  function expiry(scopeId: number, { since }: Unexpired): number | undefined {
    return since !== undefined && anyExpired.get(scopeId, since) === 1 ? since : undefined
  }

  /** Takes the next of what a filter says, of the memories up to a number of the scope. */
  function wipe(scope: Scope, { category, before }: WipeFilter, last: number): { wiped: number; more: boolean } {
    const row = findScope(db, scope)
    if (!row) return { wiped: 0, more: false }
    const rows = db
      .prepare<[object], { memory_id: number; size: number }>(
        `SELECT memory_id, length(content) AS size FROM memory WHERE scope_id = @scope AND memory_id <= @last
            ${category === undefined ? '' : 'AND category = @category'}
            ${before === undefined ? '' : 'AND timestamp < @before'}
          ORDER BY timestamp, memory_id LIMIT ${slice.memories}`,
      )
      .all({ scope: row.scope_id, last: rangeOf(row.scope_id).low + last, category, before })
    const going = firstSlice(rows)
    removeNumbers(
      row.scope_id,
      going.map(({ memory_id }) => memory_id),
    )
    return { wiped: going.length, more: going.length < rows.length || rows.length === slice.memories }
  }

  function clean(scope: Scope, policy: RetentionPolicy): { evicted: readonly Eviction[]; more: boolean } {
    const row = findScope(db, scope)
    return row ? evict(row, policy, []) : { evicted: [], more: false }
  }

  /** Removes one slice of what has to go, and writes down what went and why. */
  function evict(row: ScopeRow, policy: RetentionPolicy, spared: readonly number[]) {
    const next = retention.next(row, policy, spared, slice.memories)
    const near = new Set<number>()
    const going: number[] = []
    for (const number of next.numbers) {
      const around = text.nearby(row.scope_id, [number])
      for (const other of near) around.add(other)
      for (const other of [...going, number]) around.delete(other)
      if (going.length > 0 && going.length + 1 + around.size > rowsAtOnce) break
      going.push(number)
      near.clear()
      for (const other of around) near.add(other)
    }
    removeNumbers(row.scope_id, going, near)
    const evicted = next.evicted.slice(0, going.length)
    retention.record(row.scope_id, evicted)
    return { evicted, more: next.more || going.length < next.numbers.length }
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
    const since = query.since ?? Number.MIN_SAFE_INTEGER
    const rows = found.all(JSON.stringify(numbers), row.scope_id, since)
    const candidates = rows.map(([terms, about, context, ...fields]) => {
      const [memory_id, id, content, timestamp, importance, metadata] = fields
      const cosine = cosines?.get(memory_id)
      const entry = entryOf(scope, { memory_id, id, content, timestamp, importance, metadata })
      return { entry, terms, about, context, ...(cosine !== undefined && { cosine }) }
    })
    return { memories: row.memories, meanLength: row.length / Math.max(1, row.memories), frequencies, candidates }
  }

  function pending(scope: Scope, spaceKey: string | undefined, from: number, limit: number) {
    const row = findScope(db, scope)
    if (!row) return { entries: [] }
    const { low, high } = rangeOf(row.scope_id)
    const space = vectors.spaceId(spaceKey) ?? -1
    const seen = lookedAt.all(Math.max(low, from), high)
    const numbers = seen.filter(([, has]) => has !== space).slice(0, limit)
    const entries = rowsOf(
      row.scope_id,
      numbers.map(([number]) => number),
    ).map((each) => entryOf(scope, each))
    const isEnd = seen.length < pendingAtOnce && numbers.length < limit
    const last = numbers.length < limit ? seen.at(-1) : numbers.at(-1)
    return { entries, ...(!isEnd && last && { next: last[0] + 1 }) }
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
  function removeNumbers(
    scopeId: number,
    numbers: readonly number[],
    near: Iterable<number> = text.nearby(scopeId, numbers),
  ): void {
    if (numbers.length === 0) return
    const length = text.length(numbers)
    const remove = db.prepare('DELETE FROM memory WHERE memory_id = ? AND scope_id = ?')
    text.remove(numbers)
    for (const number of numbers) remove.run(number, scopeId)
    text.renew(scopeId, near)
    count.run(-numbers.length, -length, scopeId)
  }

  function rowsOf(scopeId: number, numbers: readonly number[]): Row[] {
    return byNumbers.all(JSON.stringify(numbers), scopeId)
  }
}

/** Memories that are looked at in one transaction for whether they have a vector. */
const pendingAtOnce = 2000

/** The conditions that memories of a list meet, for `@scope`, `@category` and `@since`. */
function filters(category: string | undefined, since: number | undefined): string {
  return [
    'scope_id = @scope',
    ...(category === undefined ? [] : ['category = @category']),
    ...(since === undefined ? [] : ['(pinned = 1 OR stored_at >= @since)']),
  ].join(' AND ')
}
