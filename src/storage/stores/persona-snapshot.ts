import type { MaybePromise } from '../../accounts/accounts.ts'
import { AppError } from '../../errors.ts'
import {
  type ArchivedMemory,
  type EmbeddingSpace,
  type Passthrough,
  type PersonaSnapshot,
  type Scope,
  snapshotBatch,
} from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { row, rows, sql, type Work, word } from '../port/port.ts'
import { digestOf, entryOf, type Row } from '../shared/memory-rows.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { pagesOf } from '../shared/persona-slices.ts'
import { cachedState, logPages, readState } from './adaptations.ts'
import { findScope } from './memory-scope.ts'
import { joinedVector, type VectorRow, vectorColumns, vectorIn } from './memory-vectors.ts'
import { findPersona, revisionOf } from './personas.ts'
import { readProfile } from './profiles.ts'

export interface SnapshotParts {
  /** Reads the state; once the snapshot is closed, it is not called any more. */
  readonly read: <R>(work: Work<R>) => MaybePromise<R>
  readonly index: MemoryIndex
  readonly close: () => MaybePromise<void>
}

/** The state of a persona that `read` shows while the snapshot is open; undefined when the user has no such persona. */
export async function openSnapshotBy(
  { read, index, close }: SnapshotParts,
  scope: Scope,
): Promise<PersonaSnapshot | undefined> {
  const head = await read(readHead(scope))
  if (!head) return undefined
  let isClosed = false
  const step = <R>(work: Work<R>) => {
    if (isClosed) throw new AppError('internal', 'The snapshot was closed while it was read')
    return read(work)
  }
  return {
    ...head,
    log: () => logPages(step, scope),
    memories: () => memoryPages(step, index, scope),
    end: async () => step(readState(scope)),
    differences: () => differencesOf(step, scope),
    async close() {
      isClosed = true
      await close()
    },
  }
}

type SnapshotHead = Pick<PersonaSnapshot, 'revision' | 'persona' | 'learned' | 'profile' | 'passthrough' | 'spaces'>

function* readHead(scope: Scope): Work<SnapshotHead | undefined> {
  const revision = yield* revisionOf(scope)
  const persona = yield* findPersona(scope.personaId)
  if (revision === undefined || persona?.user_id !== scope.userId) return undefined
  const learned = (yield* cachedState(scope)) ?? (yield* readState(scope)).learned
  const carried = yield* row<{ fields: string }>(
    sql`SELECT fields FROM persona_carried WHERE persona_id = ${scope.personaId}`,
  )
  const passthrough = carried ? (JSON.parse(carried.fields) as Passthrough) : {}
  const profile = yield* readProfile(scope)
  return { revision, persona, learned, profile, passthrough, spaces: yield* readSpaces(scope) }
}

/** Where the spaces of vectors are in the order of their memories: a scope may hold 100,000 of them. */
const placed = word('memory_vector AS v INDEXED BY memory_vector_space', 'memory_sketch AS v')

function* readSpaces(scope: Scope): Work<readonly EmbeddingSpace[]> {
  const found = yield* findScope(scope)
  if (!found) return []
  const { low, high } = rangeOf(found.scope_id)
  return yield* rows<EmbeddingSpace>(
    sql`SELECT key, model, dimension FROM embedding_space WHERE EXISTS (SELECT 1 FROM ${placed}
          WHERE v.space_id = embedding_space.space_id AND v.memory_id BETWEEN ${low} AND ${high}) ORDER BY key`,
  )
}

interface MemoryRow extends Row, VectorRow {
  readonly stored_at: number
  readonly fields: string | null
}

/** The next memories of a scope in the order in which they were stored, from this number on; a batch of rows at most. */
export function readMemories(index: MemoryIndex, from: number, high: number): Work<MemoryRow[]> {
  return rows(
    sql`SELECT memory.memory_id, memory.id, content, timestamp, importance, stored_at, metadata, fields,
          ${vectorColumns(index)}
        FROM memory LEFT JOIN memory_carried ON memory_carried.memory_id = memory.memory_id ${joinedVector}
        WHERE memory.memory_id BETWEEN ${from} AND ${high} ORDER BY memory.memory_id LIMIT ${snapshotBatch.rows}`,
  )
}

/** All of them, each page within the limits of a batch; others are served between the pages. */
async function* memoryPages(
  read: SnapshotParts['read'],
  index: MemoryIndex,
  scope: Scope,
): AsyncGenerator<readonly ArchivedMemory[]> {
  const found = await read(findScope(scope))
  if (!found) return
  const { low, high } = rangeOf(found.scope_id)
  for (let batch = await read(readMemories(index, low, high)); batch.length > 0; ) {
    const isLast = batch.length < snapshotBatch.rows
    // Over a network the next ones are on their way while these are written.
    const next = isLast ? [] : read(readMemories(index, batch.at(-1)!.memory_id + 1, high))
    if (next instanceof Promise) next.catch(() => undefined)
    for (const page of pagesOf(batch, sizeOf)) {
      yield page.map((each) => archivedMemory(index, scope, each))
      await yieldToEventLoop()
    }
    batch = await next
  }
}

function sizeOf({ content, metadata, fields, wire }: MemoryRow): number {
  return (
    Buffer.byteLength(content) + Buffer.byteLength(metadata) + Buffer.byteLength(fields ?? '') + (wire?.length ?? 0)
  )
}

/** Memories that are compared with their digests by one statement's round. */
const comparedAtOnce = 500

/** What another program changed: texts that their digests do not fit, and memories that came or went uncounted. */
async function differencesOf(read: SnapshotParts['read'], scope: Scope): Promise<readonly string[]> {
  const found = await read(findScope(scope))
  if (!found) return []
  const problems: string[] = []
  let count = 0
  for (let after = -1; ; ) {
    const page = await read(
      rows<Row & { readonly digest: Uint8Array }>(
        sql`SELECT memory_id, id, content, metadata, digest FROM memory
            WHERE scope_id = ${found.scope_id} AND memory_id > ${after} ORDER BY memory_id LIMIT ${comparedAtOnce}`,
      ),
    )
    for (const { id, content, metadata, digest } of page)
      if (!digestOf({ content, metadata: JSON.parse(metadata) }).equals(digest))
        problems.push(`memory ${id}: it was altered by another program`)
    count += page.length
    if (page.length < comparedAtOnce) break
    after = page.at(-1)!.memory_id
    await yieldToEventLoop()
  }
  const gained = count - found.memories
  if (gained !== 0)
    problems.push(`memories: ${Math.abs(gained)} of them were ${gained < 0 ? 'removed' : 'added'} by another program`)
  return problems
}

/** A memory as a package holds it. */
export function archivedMemory(index: MemoryIndex, scope: Scope, stored: MemoryRow): ArchivedMemory {
  return {
    entry: entryOf(scope, stored, vectorIn(index, stored)),
    extra: stored.fields === null ? {} : JSON.parse(stored.fields),
    stored_at: stored.stored_at,
  }
}
