import { AppError } from '../../errors.ts'
import {
  categoryOf,
  conversationOf,
  type EditedMemory,
  type EmbeddedMemory,
  type Eviction,
  isPinned,
  type MemoryEntry,
  type Metadata,
  type NewMemory,
  type RetentionPolicy,
  type Scope,
  type Vector,
  type WipeFilter,
} from '../../personas/memory/memory.ts'
import { isAsked } from '../../personas/memory/questions.ts'
import { firstSlice, slice } from '../shared/memory-retention.ts'
import { digestOf, entryOf, memoryColumns, type Row, rowOf, storable, worthOf } from '../shared/memory-rows.ts'
import { rangeOf, type ScopeRow } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { createRetention, rowsAtOnce } from './memories-retention.ts'
import { findScope, makeScope, takeNumbers } from './memories-scope.ts'
import { createTextIndex, type TextIndex } from './memories-text.ts'
import { createVectorIndex } from './memories-vectors.ts'
import { preparedOnce } from './prepared.ts'

export interface Added {
  readonly entries: readonly MemoryEntry[]
  /** The ids of those that were not there before. */
  readonly added: readonly string[]
  readonly evicted: readonly Eviction[]
  /** Whether more has to go than one transaction takes. */
  readonly more: boolean
}

export type MemoryWriter = ReturnType<typeof createMemoryWriter>

/**
 * Writes memories by plain calls, for transactions that span several stores: the table, the full-text index and the vectors
 * change together. Each call expects to run inside a transaction.
 * @param text `laterIndexed` for memories that `createStageIndex` indexes when all of them are there
 */
export function createMemoryWriter(db: Database, text: TextIndex = createTextIndex(db)) {
  const vectors = createVectorIndex(db)
  const retention = createRetention(db)
  const byId = db.prepare<[number, string], Row>(`SELECT ${memoryColumns} FROM memory WHERE scope_id = ? AND id = ?`)
  const byDigest = db.prepare<[number, Buffer], Row>(
    `SELECT ${memoryColumns} FROM memory WHERE scope_id = ? AND digest = ?`,
  )
  const byNumbers = db.prepare<[string, number], Row>(
    `SELECT ${memoryColumns} FROM memory WHERE memory_id IN (SELECT value FROM json_each(?)) AND +scope_id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO memory (memory_id, scope_id, id, content, digest, timestamp, importance, stored_at, worth, category,
       pinned, conversation, metadata) VALUES (@memory_id, @scope_id, @id, @content, @digest, @timestamp, @importance,
       @stored_at, @worth, @category, @pinned, @conversation, @metadata)`,
  )
  const count = db.prepare('UPDATE memory_scope SET memories = memories + ?, length = length + ? WHERE scope_id = ?')

  const namesakes = db
    .prepare<[number, Buffer, number], string>(
      'SELECT id FROM memory WHERE scope_id = ? AND digest = ? AND memory_id <> ?',
    )
    .pluck()
  const rewrite = db.prepare(
    `UPDATE memory SET content = @content, digest = @digest, timestamp = @timestamp, importance = @importance,
       stored_at = max(stored_at, @stored_at), worth = @worth, category = @category, pinned = @pinned,
       conversation = @conversation, metadata = @metadata WHERE memory_id = @memory_id AND scope_id = @scope_id`,
  )

  return { add, edit, remove, wipe, clean, putVectors }

  /** Stores, then enforces the policy; just stored memories go last. */
  function add(scope: Scope, given: readonly NewMemory[], policy: RetentionPolicy): Added {
    const memories = given.map(storable)
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
    const found = new Map(byNumbers.all(JSON.stringify(stored), scopeId).map((each) => [each.memory_id, each]))
    const entries = stored.map((number) => entryOf(scope, found.get(number)!, vectors.read(number)))
    const grown = findScope(db, scope)!
    retention.refuseFull(grown, policy, { numbers: stored, fresh: fresh.length, newlyPinned })
    const { evicted, more } = evict(
      grown,
      policy,
      stored.filter((_, at) => !isAsked(memories[at]!)),
    )
    return { entries, added: fresh.map((number) => found.get(number)!.id), evicted, more }
  }

  /** The same thing said again, with the metadata of both: it is newer and at least as important now. */
  function renew(scopeId: number, known: Row, memory: NewMemory, now: number): number {
    const { metadata } = memory
    const timestamp = Math.max(known.timestamp, memory.timestamp)
    const importance = Math.max(known.importance, memory.importance_score)
    // Nothing that the index says of it changes: a package that is merged twice costs no more than a look at each memory.
    const isMoved = timestamp !== known.timestamp || JSON.stringify(metadata) !== known.metadata
    const former = isMoved ? text.nearby(scopeId, [known.memory_id]) : []
    preparedOnce(db)(
      `UPDATE memory SET timestamp = ?, importance = ?, stored_at = max(stored_at, ?), worth = ?, metadata = ?,
         category = ?, pinned = ? WHERE memory_id = ? AND scope_id = ?`,
    ).run(
      timestamp,
      importance,
      memory.stored_at ?? now,
      worthOf(timestamp, importance, memory),
      JSON.stringify(metadata),
      categoryOf(metadata),
      Number(isPinned(metadata)),
      known.memory_id,
      scopeId,
    )
    if (isMoved) text.move(scopeId, known.memory_id, former)
    return known.memory_id
  }

  /** Writes an edit; `hasGrown` says whether it takes more characters than before. */
  function edit(
    scope: Scope,
    id: string,
    change: (before: MemoryEntry) => EditedMemory,
    policy: RetentionPolicy,
    vector: Vector | undefined,
  ): { readonly entry: MemoryEntry; readonly hasGrown: boolean } | undefined {
    const row = findScope(db, scope)
    const before = row && byId.get(row.scope_id, id)
    if (!row || !before) return undefined
    const number = before.memory_id
    const entry = entryOf(scope, before, vectors.read(number))
    const after = storable(change(entry))
    const digest = digestOf(after)
    const namesake = namesakes.get(row.scope_id, digest, number)
    if (namesake !== undefined) throw new AppError('invalid', `The memory ${namesake} has the same text already`)
    const metadata = JSON.stringify(after.metadata)
    const isReworded = after.content !== before.content
    const isMoved = isReworded || after.timestamp !== before.timestamp || metadata !== before.metadata
    const former = isMoved ? text.nearby(row.scope_id, [number]) : []
    rewrite.run({
      memory_id: number,
      scope_id: row.scope_id,
      content: after.content,
      digest,
      timestamp: after.timestamp,
      importance: after.importance_score,
      stored_at: isReworded ? policy.now : 0,
      worth: worthOf(after.timestamp, after.importance_score, after),
      category: categoryOf(after.metadata),
      pinned: Number(isPinned(after.metadata)),
      conversation: conversationOf(after.metadata),
      metadata,
    })
    if (isMoved) count.run(0, text.rewrite(row.scope_id, number, former), row.scope_id)
    if (isReworded && vector) vectors.put(number, vector)
    if (isReworded && !vector) vectors.remove(number)
    const newlyPinned = Number(isPinned(after.metadata) && !isPinned(entry.metadata))
    retention.refuseFull(row, policy, { numbers: [number], fresh: 0, newlyPinned })
    const hasGrown = after.content.length + metadata.length > before.content.length + before.metadata.length
    return { entry: entryOf(scope, byId.get(row.scope_id, id)!, vectors.read(number)), hasGrown }
  }

  function remove(scope: Scope, id: string): boolean {
    const row = findScope(db, scope)
    const found = row && byId.get(row.scope_id, id)
    if (!row || !found) return false
    removeNumbers(row.scope_id, [found.memory_id])
    return true
  }

  function putVectors(scope: Scope, embedded: readonly EmbeddedMemory[]): void {
    const row = findScope(db, scope)
    if (!row) return
    for (const { id, content, vector } of embedded) {
      const found = byId.get(row.scope_id, id)
      if (found?.content === content) vectors.put(found.memory_id, vector)
    }
  }

  /** Removes the next slice of a filter's memories, up to a number of the scope. */
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

  /** Evicts one slice, bounded by the rows of the full-text index that it writes, and records the evictions. */
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

  /** The neighbours' context is written anew, without the removed text. Vectors go by foreign key. */
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
}
