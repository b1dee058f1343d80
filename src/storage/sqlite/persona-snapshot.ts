import { AppError } from '../../errors.ts'
import type { EmbeddingSpace, Scope } from '../../personas/memory/memory.ts'
import {
  type ArchivedMemory,
  type Passthrough,
  type PersonaSnapshot,
  snapshotBatch,
} from '../../personas/package/archive.ts'
import { knownSecret } from '../files/own-secret.ts'
import type { Work } from '../port/port.ts'
import { yieldToEventLoop } from '../shared/event-loop.ts'
import { entryOf, type Row } from '../shared/memory-rows.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { valuesOf } from '../shared/vector-bytes.ts'
import { cachedState, logPages, readState } from '../stores/adaptations.ts'
import { findPersona, revisionOf } from '../stores/personas.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { translated, translating } from './errors.ts'
import { findScope } from './memories-scope.ts'
import { openReader } from './reader.ts'
import { sealKeyOf } from './seals.ts'
import { checkSeals } from './seals-check.ts'

/**
 * Opens a snapshot on a connection of its own: a transaction that reads sees the database as it is now, and the
 * write-ahead log keeps that state for as long as it is open, while others write. The connection stands in `readers`
 * until it is closed.
 */
export function openSnapshot(path: string, scope: Scope, readers: Set<Database>): PersonaSnapshot | undefined {
  const reader = openReader(path)
  readers.add(reader)
  const close = () => {
    readers.delete(reader)
    reader.close()
  }
  try {
    // The first statement after it fixes the state.
    reader.exec('BEGIN')
    const snapshot = snapshotIn(reader, scope, close)
    if (!snapshot) close()
    return snapshot
  } catch (reason) {
    close()
    throw reason
  }
}

/** The state that a connection shows, for as long as nothing is written: a snapshot without a transaction of its own. */
export function snapshotIn(db: Database, scope: Scope, close: () => void): PersonaSnapshot | undefined {
  const revision = runOn(db, revisionOf(scope))
  const persona = runOn(db, findPersona(scope.personaId))
  if (revision === undefined || persona?.user_id !== scope.userId) return undefined
  const passthrough = db
    .prepare<[string], string>('SELECT fields FROM persona_carried WHERE persona_id = ?')
    .pluck()
    .get(scope.personaId)
  return {
    revision,
    persona,
    learned: runOn(db, cachedState(scope)) ?? runOn(db, readState(scope)).learned,
    passthrough: passthrough === undefined ? {} : (JSON.parse(passthrough) as Passthrough),
    spaces: readSpaces(db, scope),
    log: () => logPages((work) => stepOf(db, work), scope),
    memories: () => inBatches(db, memoryPages(db, scope)),
    ...translating({
      end: async () => runOn(db, readState(scope)),
      seals: async () => checkSeals(db, scope, knownSecret(sealKeyOf(db.name))),
      close: async () => close(),
    }),
  }
}

/** Reads for a snapshot that may have been closed meanwhile. */
function stepOf<R>(db: Database, work: Work<R>): R {
  if (!db.open) throw closedMeanwhile()
  try {
    return runOn(db, work)
  } catch (reason) {
    throw translated(reason)
  }
}

function closedMeanwhile(): AppError {
  return new AppError('internal', 'The snapshot was closed while it was read')
}

/** Reads a page in each step, which leaves no statement under way, and yields to the event loop between them. */
async function* inBatches<T>(db: Database, pages: Generator<readonly T[]>): AsyncGenerator<readonly T[]> {
  for (;;) {
    if (!db.open) throw closedMeanwhile()
    const { done, value } = nextOf(pages)
    if (done) return
    yield value
    await yieldToEventLoop()
  }
}

function nextOf<T>(pages: Generator<readonly T[]>): IteratorResult<readonly T[], void> {
  try {
    return pages.next()
  } catch (reason) {
    throw translated(reason)
  }
}

function readSpaces(db: Database, scope: Scope): readonly EmbeddingSpace[] {
  const row = findScope(db, scope)
  if (!row) return []
  const { low, high } = rangeOf(row.scope_id)
  return db
    .prepare<[number, number], EmbeddingSpace>(
      // By the index of space and memory: the scope may hold 100,000 of them.
      `SELECT key, model, dimension FROM embedding_space WHERE EXISTS
         (SELECT 1 FROM memory_vector INDEXED BY memory_vector_space
           WHERE memory_vector.space_id = embedding_space.space_id AND memory_id BETWEEN ? AND ?) ORDER BY key`,
    )
    .all(low, high)
}

interface MemoryRow extends Row {
  readonly stored_at: number
  readonly fields: string | null
  readonly vector: Buffer | null
  readonly key: string
  readonly model: string
  readonly dimension: number
}

/** The memories of a scope in the order in which they were stored, each page within the limits of a batch. */
export function* memoryPages(db: Database, scope: Scope): Generator<readonly ArchivedMemory[]> {
  const row = findScope(db, scope)
  if (!row) return
  const rows = db.prepare<[number, number, number], MemoryRow>(
    `SELECT memory.memory_id, id, content, timestamp, importance, stored_at, metadata, fields, vector, key, model, dimension
       FROM memory LEFT JOIN memory_carried USING (memory_id) LEFT JOIN memory_vector USING (memory_id)
       LEFT JOIN embedding_space USING (space_id)
      WHERE memory.memory_id BETWEEN ? AND ? ORDER BY memory.memory_id LIMIT ?`,
  )
  const { low, high } = rangeOf(row.scope_id)
  for (let next = low; ; ) {
    const page: ArchivedMemory[] = []
    let bytes = 0
    for (const each of rows.iterate(next, high, snapshotBatch.rows)) {
      bytes += sizeOf(each)
      if (page.length > 0 && bytes > snapshotBatch.bytes) break
      page.push(archivedMemory(scope, each))
      next = each.memory_id + 1
    }
    if (page.length === 0) return
    yield page
  }
}

function sizeOf({ content, metadata, fields, vector }: MemoryRow): number {
  return (
    Buffer.byteLength(content) + Buffer.byteLength(metadata) + Buffer.byteLength(fields ?? '') + (vector?.length ?? 0)
  )
}

function archivedMemory(scope: Scope, row: MemoryRow): ArchivedMemory {
  const { key, model, dimension, vector } = row
  return {
    entry: entryOf(scope, row, vector ? { space: { key, model, dimension }, values: valuesOf(vector) } : undefined),
    extra: row.fields === null ? {} : JSON.parse(row.fields),
    stored_at: row.stored_at,
  }
}
