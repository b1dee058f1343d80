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
import { digestOf, entryOf, memoryColumns, type Row, storable, worthOf } from '../shared/memory-rows.ts'
import { numbersAfter, rangeOf } from '../shared/memory-scope.ts'
import { insertRows } from './insert-rows.ts'
import { type CountedScope, nextLeaving, recordEvictions, refuseFull } from './memories-retention.ts'
import { labelColumns, memoryTypes, type NewRow, newRow } from './memories-rows.ts'
import { isScope, lockScope, makeScope, valuesOfScope } from './memories-scope.ts'
import { nothingBefore, reindex, type TermsBefore, termsBefore } from './memories-text.ts'
import { type NumberedVector, putVectors, readVectors } from './memories-vectors.ts'
import { hideScope } from './removal.ts'
import type { Transaction } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

export interface Added {
  readonly entries: readonly MemoryEntry[]
  /** The ids of those that were not there before. */
  readonly added: readonly string[]
  readonly evicted: readonly Eviction[]
  /** Whether more has to go than one transaction takes. */
  readonly more: boolean
}

/** A memory that was there, with its digest and time of storage. */
interface KnownRow extends Row {
  readonly digest: Buffer
  readonly stored_at: number
}

/** Stores, then enforces the policy; just stored memories go last. For transactions that span several stores. */
export async function addMemories(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  given: readonly NewMemory[],
  policy: RetentionPolicy,
): Promise<Added> {
  const memories = given.map(storable)
  const digests = memories.map(digestOf)
  const [row, known] = await Promise.all([
    makeScope(tx, scope),
    tx.rows<KnownRow>(
      `SELECT ${memoryColumns}, digest, stored_at FROM memory_scope JOIN memory USING (scope_id)
        WHERE ${isScope} AND digest = ANY ($3)`,
      [...valuesOfScope(scope), digests],
    ),
  ])
  const numbers = numbersAfter(row, memories.length)
  const plan = planned(row.scope_id, memories, digests, numbers, known, policy.now)
  const { fresh, renewed, stored } = plan
  const moved = renewed.filter(({ isMoved }) => isMoved).map(({ row }) => row.memory_id)
  const [before] = await Promise.all([
    termsBefore(tx, row.scope_id, moved),
    tx.run('UPDATE memory_scope SET last_number = last_number + $1, memories = memories + $2 WHERE scope_id = $3', [
      memories.length,
      fresh.length,
      row.scope_id,
    ]),
    insertRows(tx, 'memory', memoryTypes, fresh),
    ...renewed.map((each) => renew(tx, each.row)),
  ])
  const vectors = memories.flatMap(({ vector }, at): NumberedVector[] =>
    vector ? [{ number: stored[at]!.memory_id, vector }] : [],
  )
  const changed = [...fresh.map(({ memory_id }) => memory_id), ...moved]
  const [, , kept] = await Promise.all([
    reindexed(tx, row.scope_id, changed, before),
    putVectors(tx, column, vectors),
    readVectors(
      tx,
      column,
      renewed.map(({ row: { memory_id } }) => memory_id),
    ),
  ])
  const brought = new Map(vectors.map(({ number, vector }) => [number, vector]))
  const entries = stored.map((each) => entryOf(scope, each, brought.get(each.memory_id) ?? kept.get(each.memory_id)))
  const grown = { scope_id: row.scope_id, memories: row.memories + fresh.length }
  const spared = stored.map(({ memory_id }) => memory_id)
  await refuseFull(tx, grown, policy, {
    numbers: spared,
    fresh: fresh.length,
    newlyPinned: renewed.filter(({ isNewlyPinned }) => isNewlyPinned).length,
  })
  const { evicted, more } = await evict(
    tx,
    grown,
    policy,
    spared.filter((_, at) => !isAsked(memories[at]!)),
  )
  return { entries, added: fresh.map(({ id }) => id), evicted, more }
}

interface Renewed {
  row: KnownRow
  /** Whether the index says something else of it: a package that is merged twice costs no more than a look at each memory. */
  isMoved: boolean
  isNewlyPinned: boolean
}

/** The rows that new memories make, and those of known ones that they change: the same thing said again. */
function planned(
  scopeId: number,
  memories: readonly NewMemory[],
  digests: readonly Buffer[],
  numbers: readonly number[],
  known: readonly KnownRow[],
  now: number,
) {
  const there = new Map<string, NewRow | Renewed>(
    known.map((row) => [row.digest.toString('hex'), { row, isMoved: false, isNewlyPinned: false }]),
  )
  const fresh: NewRow[] = []
  const touched = new Set<Renewed>()
  const places = memories.map((memory, at) => {
    const key = digests[at]!.toString('hex')
    const same = there.get(key)
    if (!same) {
      const row = newRow(numbers[at]!, scopeId, memory, digests[at]!, now)
      there.set(key, row)
      fresh.push(row)
      return key
    }
    if ('row' in same) {
      const row = again(same.row, memory, now)
      same.isMoved ||= row.timestamp !== same.row.timestamp || row.metadata !== same.row.metadata
      same.isNewlyPinned ||= isPinned(JSON.parse(row.metadata)) && !isPinned(JSON.parse(same.row.metadata))
      same.row = row
      touched.add(same)
    } else Object.assign(same, again(same, memory, now))
    return key
  })
  const rowOf = (key: string): Row => {
    const found = there.get(key)!
    return 'row' in found ? found.row : found
  }
  return { fresh, renewed: [...touched], stored: places.map(rowOf) }
}

/** A memory with the metadata of both: it is newer and at least as important now. */
function again<R extends KnownRow>(known: R, memory: NewMemory, now: number): R {
  const metadata: Metadata = { ...(JSON.parse(known.metadata) as Metadata), ...memory.metadata }
  const timestamp = Math.max(known.timestamp, memory.timestamp)
  const importance = Math.max(known.importance, memory.importance_score)
  return {
    ...known,
    timestamp,
    importance,
    stored_at: Math.max(known.stored_at, memory.stored_at ?? now),
    worth: worthOf(timestamp, importance, { content: memory.content, metadata }),
    category: categoryOf(metadata),
    metadata: JSON.stringify(metadata),
    ...labelColumns(metadata),
  }
}

async function renew(tx: Transaction, row: KnownRow): Promise<void> {
  const metadata = JSON.parse(row.metadata) as Metadata
  const { pinned, is_lore } = labelColumns(metadata)
  await tx.run(
    `UPDATE memory SET timestamp = $2, importance = $3, stored_at = $4, worth = $5, metadata = $6, category = $7,
       pinned = $8, is_lore = $9 WHERE memory_id = $1`,
    [
      row.memory_id,
      row.timestamp,
      row.importance,
      row.stored_at,
      worthOf(row.timestamp, row.importance, { content: row.content, metadata }),
      row.metadata,
      categoryOf(metadata),
      pinned,
      is_lore,
    ],
  )
}

/** Writes the index and the length of the scope's terms anew. */
async function reindexed(
  tx: Transaction,
  scopeId: number,
  changed: readonly number[],
  before: TermsBefore,
): Promise<void> {
  if (changed.length === 0) return
  const gained = await reindex(tx, { scopeId, changed, before })
  if (gained !== 0) await tx.run('UPDATE memory_scope SET length = length + $1 WHERE scope_id = $2', [gained, scopeId])
}

/** Writes an edit; `hasGrown` says whether it takes more characters than before. */
export async function editMemory(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  id: string,
  change: (before: MemoryEntry) => EditedMemory,
  policy: RetentionPolicy,
  vector: Vector | undefined,
): Promise<{ readonly entry: MemoryEntry; readonly hasGrown: boolean } | undefined> {
  const row = await lockScope(tx, scope)
  const before = row && (await byId(tx, row.scope_id, id))
  if (!row || !before) return undefined
  const number = before.memory_id
  const kept = (await readVectors(tx, column, [number])).get(number)
  const entry = entryOf(scope, before, kept)
  const after = storable(change(entry))
  const digest = digestOf(after)
  const metadata = JSON.stringify(after.metadata)
  const isReworded = after.content !== before.content
  const isMoved = isReworded || after.timestamp !== before.timestamp || metadata !== before.metadata
  const [namesake, former] = await Promise.all([
    tx.row<{ id: string }>('SELECT id FROM memory WHERE scope_id = $1 AND digest = $2 AND memory_id <> $3', [
      row.scope_id,
      digest,
      number,
    ]),
    isMoved ? termsBefore(tx, row.scope_id, [number]) : nothingBefore,
  ])
  if (namesake) throw new AppError('invalid', `The memory ${namesake.id} has the same text already`)
  const { pinned, speaker, is_lore } = labelColumns(after.metadata)
  await tx.run(
    `UPDATE memory SET content = $2, digest = $3, timestamp = $4, importance = $5,
       stored_at = greatest(stored_at, $6::bigint), worth = $7, category = $8, pinned = $9, conversation = $10,
       speaker = $11, is_lore = $12, metadata = $13 WHERE memory_id = $1`,
    [
      number,
      after.content,
      digest,
      after.timestamp,
      after.importance_score,
      isReworded ? policy.now : 0,
      worthOf(after.timestamp, after.importance_score, after),
      categoryOf(after.metadata),
      pinned,
      conversationOf(after.metadata),
      speaker,
      is_lore,
      metadata,
    ],
  )
  await reindexed(tx, row.scope_id, isMoved ? [number] : [], former)
  if (isReworded && vector) await putVectors(tx, column, [{ number, vector }])
  if (isReworded && !vector) await tx.run('DELETE FROM memory_vector WHERE memory_id = $1', [number])
  const newlyPinned = Number(isPinned(after.metadata) && !isPinned(entry.metadata))
  await refuseFull(tx, row, policy, { numbers: [number], fresh: 0, newlyPinned })
  const hasGrown = after.content.length + metadata.length > before.content.length + before.metadata.length
  const written = (await byId(tx, row.scope_id, id))!
  return { entry: entryOf(scope, written, isReworded ? vector : kept), hasGrown }
}

/** False where there is none of that id. */
export async function removeMemory(tx: Transaction, scope: Scope, id: string): Promise<boolean> {
  const row = await lockScope(tx, scope)
  const found = row && (await byId(tx, row.scope_id, id))
  if (!row || !found) return false
  await removeNumbers(tx, row.scope_id, [found.memory_id])
  return true
}

/** Sets the vectors of memories; those that were removed or have another text meanwhile are ignored. */
export async function putEmbedded(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  embedded: readonly EmbeddedMemory[],
): Promise<void> {
  const row = await lockScope(tx, scope)
  if (!row || embedded.length === 0) return
  const rows = await tx.rows<Row>(`SELECT ${memoryColumns} FROM memory WHERE scope_id = $1 AND id = ANY ($2)`, [
    row.scope_id,
    embedded.map(({ id }) => id),
  ])
  const there = new Map(rows.map((each) => [each.id, each]))
  const vectors = embedded.flatMap(({ id, content, vector }): NumberedVector[] => {
    const found = there.get(id)
    return found?.content === content ? [{ number: found.memory_id, vector }] : []
  })
  await putVectors(tx, column, vectors)
}

/** Removes the next slice of a filter's memories, up to a number of the scope. */
export async function wipeSlice(
  tx: Transaction,
  scope: Scope,
  { category, before }: WipeFilter,
  last: number,
): Promise<{ readonly wiped: number; readonly more: boolean }> {
  const row = await lockScope(tx, scope)
  if (!row) return { wiped: 0, more: false }
  const rows = await tx.rows<{ memory_id: number; size: number }>(
    `SELECT memory_id, char_length(content) AS size FROM memory
      WHERE scope_id = $1 AND memory_id <= $2 AND ($3::text IS NULL OR category = $3) AND ($4::bigint IS NULL OR timestamp < $4)
      ORDER BY timestamp, memory_id LIMIT ${slice.memories}`,
    [row.scope_id, rangeOf(row.scope_id).low + last, category ?? null, before ?? null],
  )
  const going = firstSlice(rows)
  await removeNumbers(
    tx,
    row.scope_id,
    going.map(({ memory_id }) => memory_id),
  )
  return { wiped: going.length, more: going.length < rows.length || rows.length === slice.memories }
}

/** All memories of a scope leave at once, and are removed afterwards; the record of evictions stays. Resolves with how many they are. */
export async function hideMemories(tx: Transaction, scope: Scope): Promise<number> {
  const row = await lockScope(tx, scope)
  if (!row || row.memories === 0) return 0
  await hideScope(tx, scope)
  const { scope_id } = await makeScope(tx, scope)
  await tx.run('UPDATE memory_eviction SET scope_id = $1 WHERE scope_id = $2', [scope_id, row.scope_id])
  return row.memories
}

/** Enforces the policy once. */
export async function cleanSlice(
  tx: Transaction,
  scope: Scope,
  policy: RetentionPolicy,
): Promise<{ readonly evicted: readonly Eviction[]; readonly more: boolean }> {
  const row = await lockScope(tx, scope)
  return row ? evict(tx, row, policy, []) : { evicted: [], more: false }
}

/** Evicts one slice and records the evictions. */
async function evict(
  tx: Transaction,
  row: CountedScope,
  policy: RetentionPolicy,
  spared: readonly number[],
): Promise<{ readonly evicted: readonly Eviction[]; readonly more: boolean }> {
  const { numbers, evicted, more } = await nextLeaving(tx, row, policy, spared)
  await removeNumbers(tx, row.scope_id, numbers)
  await recordEvictions(tx, row.scope_id, evicted)
  return { evicted, more }
}

/** The neighbours' context is written anew, without the removed text. */
async function removeNumbers(tx: Transaction, scopeId: number, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return
  const [before] = await Promise.all([
    termsBefore(tx, scopeId, numbers),
    // The rest of their rows goes by foreign keys; vectors at once, since they are counted by statement.
    tx.run('DELETE FROM memory_vector WHERE memory_id = ANY ($1)', [numbers]),
    tx.run('DELETE FROM memory WHERE memory_id = ANY ($1)', [numbers]),
    tx.run('UPDATE memory_scope SET memories = memories - $1 WHERE scope_id = $2', [numbers.length, scopeId]),
  ])
  await reindexed(tx, scopeId, numbers, before)
}

function byId(tx: Transaction, scopeId: number, id: string): Promise<Row | undefined> {
  return tx.row<Row>(`SELECT ${memoryColumns} FROM memory WHERE scope_id = $1 AND id = $2`, [scopeId, id])
}
