import { AppError } from '../../errors.ts'
import {
  type EditedMemory,
  type EmbeddedMemory,
  type Eviction,
  isPinned,
  kindOf,
  type MemoryEntry,
  type NewMemory,
  type RetentionPolicy,
  type Scope,
  type Vector,
  type WipeFilter,
} from '../../personas/personas.ts'
import type { IndexedText, MemoryIndex, NumberedVector, Surrounded, TermsChange } from '../port/memory-index.ts'
import { among, greatest, nothing, row, rows, run, sql, together, type Work } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { firstSlice, type Leaving, slice } from '../shared/memory-retention.ts'
import { digestOf, entryOf, worthOf } from '../shared/memory-rows.ts'
import { numbersAfter, rangeOf } from '../shared/memory-scope.ts'
import { aboutOf, analysed, contextOf, type Known, type Near } from '../shared/memory-text.ts'
import { insertMemories, knownMemories, planned, renew, setLabels } from './memory-plan.ts'
import { getMemory } from './memory-read.ts'
import { type CountedScope, nextExpired, nextLeaving, recordEvictions, refuseFull } from './memory-retention.ts'
import { lockScope, makeScopeWith } from './memory-scope.ts'
import { makeSpaces, putVectors, readVectors, removeVectors } from './memory-vectors.ts'
import { checkQuota } from './quota.ts'

export interface Added {
  readonly entries: readonly MemoryEntry[]
  /** The ids of those that were not there before. */
  readonly added: readonly string[]
  readonly evicted: readonly Eviction[]
  /** Whether more has to go than one transaction takes. */
  readonly more: boolean
}

/**
 * Stores, then enforces the policy; just stored memories go last. Over a network these are four ways there and back, where
 * none is said again and none leaves. @param limits none for a caller that checks the quota itself
 */
export function* addMemories(
  index: MemoryIndex,
  scope: Scope,
  memories: readonly NewMemory[],
  policy: RetentionPolicy,
  limits?: StoredLimits,
): Work<Added> {
  const digests = memories.map(digestOf)
  const [row, [known, spaces]] = yield* makeScopeWith(scope, () =>
    together(knownMemories(scope, digests), makeSpaces(memories.flatMap(({ vector }) => vector ?? []))),
  )
  const { scope_id } = row
  const numbers = numbersAfter(row, memories.length)
  const { fresh, renewed, stored } = planned(memories, digests, { scopeId: scope_id, numbers, known, now: policy.now })
  const moved = renewed.flatMap(({ isMoved, row }) => (isMoved ? [row.memory_id] : []))
  const before = yield* neighbours(index, scope_id, moved)
  // The same words have the same vector in a space.
  const spaceOf = new Map(known.map(({ memory_id, space_id }) => [memory_id, space_id]))
  const vectors = memories.flatMap(({ vector }, at): NumberedVector[] => {
    const number = stored[at]!.memory_id
    return vector && spaceOf.get(number) !== spaces.get(vector.space.key) ? [{ number, vector }] : []
  })
  const [, terms, kept, old] = yield* together(
    together(
      run(
        sql`UPDATE memory_scope SET last_number = last_number + ${memories.length}, memories = memories + ${fresh.length}
            WHERE scope_id = ${scope_id}`,
      ),
      insertMemories(index, fresh),
      ...renewed.map((each) => renew(index, each.row)),
      putVectors(index, vectors, spaces),
    ),
    changedTerms(index, scope_id, [...fresh.map(({ memory_id }) => memory_id), ...moved], before),
    readVectors(
      index,
      renewed.map(({ row }) => row.memory_id),
    ),
    nextExpired(scope_id, policy),
  )
  const grown = { scope_id, memories: row.memories + fresh.length }
  const isFull = old.length > 0 || grown.memories > policy.maxMemories
  const check = () => checkQuota(limits, scope.userId)
  yield* together(writeTerms(index, scope_id, terms), isFull ? nothing() : check())
  const brought = new Map(vectors.map(({ number, vector }) => [number, vector]))
  const vectorOf = (number: number) => brought.get(number) ?? kept.get(number)
  const result = {
    entries: stored.map((each) => entryOf(scope, each, vectorOf(each.memory_id))),
    added: fresh.map(({ id }) => id),
  }
  if (!isFull) return { ...result, evicted: [], more: false }
  const spared = stored.map(({ memory_id }) => memory_id)
  const newlyPinned = renewed.filter(({ isNewlyPinned }) => isNewlyPinned).length
  yield* refuseFull(grown, policy, { numbers: spared, fresh: fresh.length, newlyPinned })
  const said = spared.filter((_, at) => kindOf(memories[at]!) !== 'question')
  const evicted = yield* evict(index, grown, policy, old, said)
  yield* check()
  return { ...result, ...evicted }
}

/** The memories around those that change, before they do. */
function* neighbours(index: MemoryIndex, scopeId: number, numbers: readonly number[]): Work<readonly number[]> {
  return numbers.length === 0 ? [] : yield* index.neighbours(scopeId, numbers)
}

/** Writes an edit; the quota is checked where the memory takes more characters than before. Undefined where there is none of that id. */
export function* editMemory(
  index: MemoryIndex,
  scope: Scope,
  id: string,
  { change, vector }: { change: (before: MemoryEntry) => EditedMemory; vector: Vector | undefined },
  policy: RetentionPolicy,
  limits: StoredLimits | undefined,
): Work<MemoryEntry | undefined> {
  const [scopeRow, found] = yield* together(lockScope(scope), getMemory(index, scope, id))
  if (!scopeRow || !found) return undefined
  const { scope_id } = scopeRow
  const { row: before, entry } = found
  const number = before.memory_id
  const after = change(entry)
  const digest = digestOf(after)
  const metadata = JSON.stringify(after.metadata)
  const isReworded = after.content !== before.content
  const isMoved = isReworded || after.timestamp !== before.timestamp || metadata !== before.metadata
  const moved = isMoved ? [number] : []
  const [namesake, former, spaces] = yield* together(
    row<{ id: string }>(
      sql`SELECT id FROM memory WHERE scope_id = ${scope_id} AND digest = ${digest} AND memory_id <> ${number}`,
    ),
    neighbours(index, scope_id, moved),
    makeSpaces(isReworded && vector ? [vector] : []),
  )
  if (namesake) throw new AppError('invalid', `The memory ${namesake.id} has the same text already`)
  const [, terms] = yield* together(
    run(
      sql`UPDATE memory SET content = ${after.content}, digest = ${digest}, timestamp = ${after.timestamp},
            importance = ${after.importance_score},
            stored_at = ${greatest}(stored_at, CAST(${isReworded ? policy.now : 0} AS bigint)),
            worth = ${worthOf(after.timestamp, after.importance_score, after)},
            ${setLabels(index, metadata, after.metadata)} WHERE memory_id = ${number}`,
    ),
    changedTerms(index, scope_id, moved, former),
    isReworded ? removeVectors([number]) : nothing(),
    putVectors(index, isReworded && vector ? [{ number, vector }] : [], spaces),
  )
  const newlyPinned = Number(isPinned(after.metadata) && !isPinned(entry.metadata))
  const hasGrown = after.content.length + metadata.length > before.content.length + before.metadata.length
  yield* together(
    writeTerms(index, scope_id, terms),
    refuseFull(scopeRow, policy, { numbers: [number], fresh: 0, newlyPinned }),
    hasGrown ? checkQuota(limits, scope.userId) : nothing(),
  )
  const { content, timestamp, importance_score: importance } = after
  return entryOf(scope, { ...before, content, timestamp, importance, metadata }, isReworded ? vector : entry.vector)
}

/** False where there is none of that id. */
export function* removeMemory(index: MemoryIndex, scope: Scope, id: string): Work<boolean> {
  const [scopeRow, found] = yield* together(lockScope(scope), getMemory(index, scope, id))
  if (!scopeRow || !found) return false
  yield* removeNumbers(index, scopeRow.scope_id, [found.row.memory_id])
  return true
}

/** Sets the vectors of memories; those that were removed or have another text meanwhile are ignored. */
export function* putEmbedded(index: MemoryIndex, scope: Scope, embedded: readonly EmbeddedMemory[]): Work<void> {
  const scopeRow = yield* lockScope(scope)
  if (!scopeRow || embedded.length === 0) return
  const [found, spaces] = yield* together(
    rows<{ memory_id: number; id: string; content: string }>(
      sql`SELECT memory_id, id, content FROM memory
          WHERE scope_id = ${scopeRow.scope_id} AND id ${among(embedded.map(({ id }) => id))}`,
    ),
    makeSpaces(embedded.map(({ vector }) => vector)),
  )
  const there = new Map(found.map((each) => [each.id, each]))
  const vectors = embedded.flatMap(({ id, content, vector }): NumberedVector[] => {
    const memory = there.get(id)
    return memory?.content === content ? [{ number: memory.memory_id, vector }] : []
  })
  yield* putVectors(index, vectors, spaces)
}

/** Removes the next slice of a filter's memories, up to a number of the scope. */
export function* wipeSlice(index: MemoryIndex, scope: Scope, { category, before }: WipeFilter, last: number) {
  const scopeRow = yield* lockScope(scope)
  if (!scopeRow) return { wiped: 0, more: false }
  const { scope_id } = scopeRow
  const found = yield* rows<{ memory_id: number; size: number }>(
    sql`SELECT memory_id, length(content) AS size FROM memory
        WHERE scope_id = ${scope_id} AND memory_id <= ${rangeOf(scope_id).low + last}
          AND ${category === undefined ? sql`true` : sql`category = ${category}`}
          AND ${before === undefined ? sql`true` : sql`timestamp < ${before}`}
        ORDER BY timestamp, memory_id LIMIT ${slice.memories}`,
  )
  const going = firstSlice(found).map(({ memory_id }) => memory_id)
  yield* removeNumbers(index, scope_id, going)
  return { wiped: going.length, more: going.length < found.length || found.length === slice.memories }
}

/** Enforces the policy once. */
export function* cleanSlice(index: MemoryIndex, scope: Scope, policy: RetentionPolicy) {
  const scopeRow = yield* lockScope(scope)
  if (!scopeRow) return { evicted: [], more: false }
  return yield* evict(index, scopeRow, policy, yield* nextExpired(scopeRow.scope_id, policy), [])
}

/** Evicts one slice, and records the evictions. */
function* evict(
  index: MemoryIndex,
  { scope_id, memories }: CountedScope,
  policy: RetentionPolicy,
  old: readonly Leaving[],
  spared: readonly number[],
): Work<Pick<Added, 'evicted' | 'more'>> {
  const next = yield* nextLeaving({ scope_id, memories }, policy, old, spared)
  yield* removeNumbers(index, scope_id, next.numbers)
  yield* recordEvictions(scope_id, next.evicted)
  return { evicted: next.evicted, more: next.more }
}

/** The neighbours' context is written again, without the removed text. */
function* removeNumbers(index: MemoryIndex, scopeId: number, numbers: readonly number[]): Work<void> {
  if (numbers.length === 0) return
  const [former, terms] = yield* together(
    index.neighbours(scopeId, numbers),
    readTerms(numbers),
    index.forget(numbers),
    // The rest of their rows goes by foreign keys; vectors at once, since they may be counted by statement.
    removeVectors(numbers),
    run(sql`DELETE FROM memory WHERE memory_id ${among(numbers)}`),
    run(sql`UPDATE memory_scope SET memories = memories - ${numbers.length} WHERE scope_id = ${scopeId}`),
  )
  const around = yield* changedTerms(index, scopeId, [], former)
  yield* writeTerms(index, scopeId, [...terms, ...around])
}

function* readTerms(numbers: readonly number[]): Work<readonly TermsChange[]> {
  const found = yield* rows<IndexedText & { memory_id: number }>(
    sql`SELECT memory_id, terms, about, context FROM memory_terms WHERE memory_id ${among(numbers)}`,
  )
  return found.map(({ memory_id, ...old }) => ({ number: memory_id, old, fresh: undefined }))
}

/** For `writeTerms`: terms of memories that were added or changed, and of those around them, before and now. */
function* changedTerms(
  index: MemoryIndex,
  scopeId: number,
  changed: readonly number[],
  before: readonly number[],
): Work<readonly TermsChange[]> {
  if (changed.length + before.length === 0) return []
  const found = yield* index.surroundings(scopeId, changed, before)
  const byNumber = new Map(found.map((row) => [row.memory_id, row]))
  const isChanged = new Set(changed)
  const known: Known = new Map()
  return found.flatMap((row): TermsChange[] => {
    if (!row.around) return []
    const near = row.around.flatMap(([number, distance]): Near[] => {
      const other = byNumber.get(number)
      return other ? [{ row: other, distance }] : []
    })
    const old = oldOf(row)
    const own = isChanged.has(row.memory_id) ? undefined : old
    const { terms, about } = own ?? { terms: analysed(row, known).terms, about: aboutOf(row) }
    const fresh = { terms, about, context: contextOf(row, near, known) }
    const isSame = old?.terms === terms && old.about === about && old.context === fresh.context
    return isSame ? [] : [{ number: row.memory_id, old, fresh }]
  })
}

function oldOf({ terms, about, context }: Surrounded): IndexedText | undefined {
  return terms === null || about === null || context === null ? undefined : { terms, about, context }
}

/** Writes the index and the length of the scope's terms again. */
function* writeTerms(index: MemoryIndex, scopeId: number, changes: readonly TermsChange[]): Work<void> {
  if (changes.length === 0) return
  const gained = changes
    .filter(({ old, fresh }) => old?.terms !== fresh?.terms)
    .reduce((sum, { old, fresh }) => sum + lengthOf(fresh) - lengthOf(old), 0)
  yield* together(
    index.write(scopeId, changes),
    ...(gained === 0
      ? []
      : [run(sql`UPDATE memory_scope SET length = length + ${gained} WHERE scope_id = ${scopeId}`)]),
  )
}

/** Characters, as SQLite counts them. */
function lengthOf(text: IndexedText | undefined): number {
  return text === undefined ? 0 : text.terms.length - (text.terms.match(/[\ud800-\udbff]/g)?.length ?? 0)
}
