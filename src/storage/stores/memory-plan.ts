import {
  categoryOf,
  conversationOf,
  isPinned,
  labelsSaidAgain,
  type Metadata,
  type NewMemory,
  type Scope,
} from '../../personas/personas.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { amongBytes, insertNamed, rows, run, type Statement, sql, type Work } from '../port/port.ts'
import { labelColumns, type Row, rowOf, worthOf } from '../shared/memory-rows.ts'
import { scopeId } from './memory-scope.ts'

/** A memory that was there, with its digest and time of storage. */
export interface KnownRow extends Row {
  readonly digest: Buffer
  readonly stored_at: number
  /** The space of its vector. */
  readonly space_id?: number | null
}

/** A new memory as its table keeps it. */
export type NewRow = ReturnType<typeof newRow>

function newRow(number: number, scopeId: number, memory: NewMemory, digest: Buffer, now: number) {
  return { ...rowOf(number, scopeId, memory, digest, now), ...labelColumns(memory.metadata) }
}

const memory = {
  table: 'memory',
  columns: {
    memory_id: 'integer',
    scope_id: 'integer',
    id: 'text',
    content: 'text',
    digest: 'bytes',
    timestamp: 'integer',
    importance: 'real',
    stored_at: 'integer',
    worth: 'real',
    category: 'text',
    pinned: 'boolean',
    conversation: 'text',
    metadata: 'text',
  },
} as const

/** The same where columns tell who speaks. */
const labelled = { table: 'memory', columns: { ...memory.columns, speaker: 'text', is_lore: 'boolean' } } as const

/** Inserts new memories. */
export function insertMemories({ hasLabelColumns }: MemoryIndex, fresh: readonly NewRow[]): Work<void> {
  return hasLabelColumns ? insertNamed(labelled, fresh) : insertNamed(memory, fresh)
}

/** The memories of a scope that say the same as others, by the digests of these. */
export function knownMemories(scope: Scope, digests: readonly Buffer[]): Work<KnownRow[]> {
  return rows(
    sql`SELECT memory.memory_id, id, content, timestamp, importance, metadata, digest, stored_at, space_id
        FROM memory LEFT JOIN memory_vector ON memory_vector.memory_id = memory.memory_id
        WHERE scope_id = ${scopeId(scope)} AND digest ${amongBytes(digests)}`,
  )
}

interface Renewed {
  row: KnownRow
  /** Whether the index says something else of it: a package that is merged twice costs no more than a look at each memory. */
  isMoved: boolean
  isNewlyPinned: boolean
}

/** The rows that new memories make, and those of known ones that they change: the same thing said again. */
export function planned(
  memories: readonly NewMemory[],
  digests: readonly Buffer[],
  {
    scopeId,
    numbers,
    known,
    now,
  }: { scopeId: number; numbers: readonly number[]; known: readonly KnownRow[]; now: number },
) {
  const there = new Map<string, NewRow | Renewed>(
    known.map((row) => [row.digest.toString('latin1'), { row, isMoved: false, isNewlyPinned: false }]),
  )
  const fresh: NewRow[] = []
  const touched = new Set<Renewed>()
  const places = memories.map((memory, at) => {
    const key = digests[at]!.toString('latin1')
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
  const rowFor = (key: string): Row => {
    const found = there.get(key)!
    return 'row' in found ? found.row : found
  }
  return { fresh, renewed: [...touched], stored: places.map(rowFor) }
}

/** A memory with the metadata of both: it is newer and at least as important now. */
function again<R extends KnownRow>(known: R, memory: NewMemory, now: number): R {
  const before = { timestamp: known.timestamp, metadata: JSON.parse(known.metadata) as Metadata }
  const metadata = labelsSaidAgain(before, memory)
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

/** Writes a known memory that was said again. */
export function renew(index: MemoryIndex, row: KnownRow): Work<number> {
  const metadata = JSON.parse(row.metadata) as Metadata
  return run(
    sql`UPDATE memory SET timestamp = ${row.timestamp}, importance = ${row.importance}, stored_at = ${row.stored_at},
          worth = ${worthOf(row.timestamp, row.importance, { content: row.content, metadata })},
          ${setLabels(index, row.metadata, metadata)} WHERE memory_id = ${row.memory_id}`,
  )
}

/** The assignments of the metadata and of the columns that follow from it. */
export function setLabels({ hasLabelColumns }: MemoryIndex, text: string, metadata: Metadata): Statement {
  const { pinned, speaker, is_lore } = labelColumns(metadata)
  const others = hasLabelColumns ? sql`, speaker = ${speaker}, is_lore = ${is_lore}` : sql``
  return sql`metadata = ${text}, category = ${categoryOf(metadata)}, pinned = ${pinned},
    conversation = ${conversationOf(metadata)} ${others}`
}
