import { AppError } from '../../errors.ts'
import type { EmbeddingSpace, Scope, Vector } from '../../personas/memory/memory.ts'
import {
  type ArchivedMemory,
  type Passthrough,
  type PersonaSnapshot,
  snapshotBatch,
} from '../../personas/package/archive.ts'
import { rows as rowsOf, sql } from '../port/port.ts'
import { entryOf, type Row } from '../shared/memory-rows.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { pagesOf } from '../shared/persona-slices.ts'
import { cachedState, logPages, readState } from '../stores/adaptations.ts'
import { joinedVector, type VectorRow, vectorColumns, vectorIn } from '../stores/memory-vectors.ts'
import { findPersona, revisionOf } from '../stores/personas.ts'
import { runOn } from './driver.ts'
import { translated, translating } from './errors.ts'
import { holdTransaction } from './held.ts'
import { findScope } from './memories-scope.ts'
import { memoryIndexOf } from './memory-index.ts'
import type { Database, Transaction } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * Opens a snapshot: a transaction of its own that sees the database as it is now, while others write. Undefined when that user
 * has no such persona.
 */
export async function openSnapshot(
  db: Database,
  column: VectorColumn,
  scope: Scope,
): Promise<PersonaSnapshot | undefined> {
  let head: SnapshotHead | undefined
  let tx: Transaction | undefined
  const held = await holdTransaction(
    db,
    async (begun) => {
      tx = begun
      head = await readHead(begun, scope)
    },
    { level: 'repeatable read', readOnly: true },
  )
  if (!head) {
    await held.end()
    return undefined
  }
  return snapshotOf(tx!, column, scope, head, () => held.end())
}

/** The state that a transaction shows, also of rows that it wrote: a snapshot without a transaction of its own. */
export async function snapshotIn(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
): Promise<PersonaSnapshot | undefined> {
  const head = await readHead(tx, scope)
  return head && snapshotOf(tx, column, scope, head, async () => {})
}

function snapshotOf(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  head: SnapshotHead,
  close: () => Promise<void>,
): PersonaSnapshot {
  let isClosed = false
  const read = async function* <T>(pages: AsyncGenerator<readonly T[]>): AsyncGenerator<readonly T[]> {
    try {
      for await (const page of pages) {
        if (isClosed) throw new AppError('internal', 'The snapshot was closed while it was read')
        yield page
      }
    } catch (reason) {
      throw translated(reason)
    }
  }
  return {
    ...head,
    log: () => read(logPages((work) => runOn(tx, work), scope)),
    memories: () => read(memoryPages(tx, column, scope)),
    ...translating({
      end: () => runOn(tx, readState(scope)),
      // The key of seals lies beside a database of one machine; several instances have no such place.
      seals: async () => undefined,
      async close() {
        isClosed = true
        await close()
      },
    }),
  }
}

type SnapshotHead = Pick<PersonaSnapshot, 'revision' | 'persona' | 'learned' | 'passthrough' | 'spaces'>

async function readHead(tx: Transaction, scope: Scope): Promise<SnapshotHead | undefined> {
  const revision = await runOn(tx, revisionOf(scope))
  const persona = await runOn(tx, findPersona(scope.personaId))
  if (revision === undefined || persona?.user_id !== scope.userId) return undefined
  const learned = (await runOn(tx, cachedState(scope))) ?? (await runOn(tx, readState(scope))).learned
  const carried = await tx.row<{ fields: string }>('SELECT fields FROM persona_carried WHERE persona_id = $1', [
    scope.personaId,
  ])
  return {
    revision,
    persona,
    learned,
    passthrough: carried ? (JSON.parse(carried.fields) as Passthrough) : {},
    spaces: await readSpaces(tx, scope),
  }
}

async function readSpaces(tx: Transaction, scope: Scope): Promise<readonly EmbeddingSpace[]> {
  const row = await findScope(tx, scope)
  if (!row) return []
  const { low, high } = rangeOf(row.scope_id)
  return tx.rows<EmbeddingSpace>(
    `SELECT key, model, dimension FROM embedding_space WHERE space_id IN
       (SELECT DISTINCT space_id FROM memory_sketch WHERE memory_id BETWEEN $1 AND $2) ORDER BY key`,
    [low, high],
  )
}

interface MemoryRow extends Row, VectorRow {
  readonly stored_at: number
  readonly fields: string | null
}

/** The memories of a scope in the order in which they were stored, each page within the limits of a batch. */
async function* memoryPages(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
): AsyncGenerator<readonly ArchivedMemory[]> {
  const row = await findScope(tx, scope)
  if (!row) return
  const { low, high } = rangeOf(row.scope_id)
  const index = memoryIndexOf(column)
  const read = (from: number) =>
    runOn(
      tx,
      rowsOf<MemoryRow>(
        sql`SELECT memory.memory_id, memory.id, content, timestamp, importance, stored_at, metadata, fields,
              ${vectorColumns(index)}
            FROM memory LEFT JOIN memory_carried ON memory_carried.memory_id = memory.memory_id ${joinedVector}
            WHERE memory.memory_id BETWEEN ${from} AND ${high} ORDER BY memory.memory_id LIMIT ${snapshotBatch.rows}`,
      ),
    )
  for (let rows = await read(low); rows.length > 0; ) {
    // The next ones are on their way while these are written.
    const next = rows.length < snapshotBatch.rows ? [] : read(rows.at(-1)!.memory_id + 1)
    if (next instanceof Promise) next.catch(() => undefined)
    for (const page of pagesOf(rows, sizeOf))
      yield page.map((each) => archivedMemory(scope, each, vectorIn(index, each)))
    rows = await next
  }
}

function sizeOf({ content, metadata, fields, wire }: MemoryRow): number {
  return (
    Buffer.byteLength(content) + Buffer.byteLength(metadata) + Buffer.byteLength(fields ?? '') + (wire?.length ?? 0)
  )
}

function archivedMemory(scope: Scope, row: MemoryRow, vector: Vector | undefined): ArchivedMemory {
  return {
    entry: entryOf(scope, row, vector),
    extra: row.fields === null ? {} : JSON.parse(row.fields),
    stored_at: row.stored_at,
  }
}
