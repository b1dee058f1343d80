import type { IncomingMemory, Scope, Vector } from '../../personas/personas.ts'
import { digestOf, rowOf } from '../shared/memory-rows.ts'
import { inOwnSpace } from '../shared/persona-write.ts'
import { bytesOf, sketchOf } from '../shared/vector-bytes.ts'
import { makeSpaces } from '../stores/memory-vectors.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { findScope, makeScope, takeNumbers } from './memories-scope.ts'
import { createRowsInsert } from './rows-insert.ts'

/** Memories and the parts of their rows that can be computed before their transaction. */
export interface ReadyBatch {
  readonly batch: readonly IncomingMemory[]
  readonly rows: readonly ReturnType<typeof rowOf>[]
  /** By place; undefined for a memory without a vector. */
  readonly sketches: readonly (Buffer | undefined)[]
  /** Whether no two of them say the same. */
  readonly isDistinct: boolean
}

const columns =
  'memory_id, scope_id, id, content, digest, timestamp, importance, stored_at, worth, category, pinned, conversation, metadata'

/**
 * Writes memories into a stage, in the same rows as a memory writer does one by one, without the parts that only a persona in use needs:
 * a full-text index that is right after each of them, retention, and the entries as they were stored.
 */
export function createStageMemories(db: Database, scope: Scope) {
  const putNew = createVectorInsert(db)
  const isKnown = db.prepare<[number, Buffer], 1>('SELECT 1 FROM memory WHERE scope_id = ? AND digest = ?').pluck()
  const dimensionOf = db.prepare<[string], number>('SELECT dimension FROM embedding_space WHERE key = ?').pluck()
  const count = db.prepare('UPDATE memory_scope SET memories = memories + ? WHERE scope_id = ?')
  const insert = createRowsInsert(db, 'memory', columns)
  const carry = createRowsInsert(db, 'memory_carried', 'memory_id, fields')
  const names = columns.split(', ') as (keyof ReturnType<typeof rowOf>)[]

  return {
    /** Works in parallel with the database. */
    prepare(batch: readonly IncomingMemory[]): ReadyBatch {
      const now = Date.now()
      const rows = batch.map((memory) => rowOf(0, 0, memory, digestOf(memory), now))
      const sketches = batch.map(({ vector }) => vector && sketchOf(vector.values))
      const isDistinct = new Set(rows.map(({ digest }) => digest.toString('latin1'))).size === rows.length
      return { batch, rows, sketches, isDistinct }
    },

    /**
     * Writes a batch, all of it new; false, with nothing written, where a memory of it is there already. Expects to run inside a
     * transaction.
     */
    write({ batch, rows, sketches, isDistinct }: ReadyBatch): boolean {
      if (!isDistinct) return false
      const row = findScope(db, scope) ?? makeScope(db, scope)
      const scopeId = row.scope_id
      if (rows.some(({ digest }) => isKnown.get(scopeId, digest))) return false
      const numbers = takeNumbers(db, row, rows.length)
      const dimensions = new Map<string, number | undefined>()
      for (const { vector } of batch)
        if (vector && !dimensions.has(vector.space.key))
          dimensions.set(vector.space.key, dimensionOf.get(vector.space.key))
      const fitting = batch.flatMap(({ vector: given }, at) => {
        if (!given) return []
        const vector = inOwnSpace(given, dimensions.get(given.space.key))
        // The first vector of a new space says its dimension.
        if (vector === given) dimensions.set(given.space.key, given.values.length)
        return [{ number: numbers[at]!, vector, sketch: sketches[at]! }]
      })
      insert(
        rows.map((each, at) => {
          const numbered = { ...each, memory_id: numbers[at]!, scope_id: scopeId }
          return names.map((name) => numbered[name])
        }),
      )
      putNew(fitting)
      carry(
        batch.flatMap(({ extra }, at) =>
          Object.keys(extra).length > 0 ? [[numbers[at]!, JSON.stringify(extra)]] : [],
        ),
      )
      count.run(rows.length, scopeId)
      return true
    },
  }
}

/** Writes the vectors of new memories, and the sketches of the vectors. */
function createVectorInsert(db: Database) {
  const insertVectors = createRowsInsert(db, 'memory_vector', 'memory_id, space_id, vector')
  const insertSketches = createRowsInsert(db, 'memory_sketch', 'memory_id, space_id, bits')
  return (vectors: readonly { readonly number: number; readonly vector: Vector; readonly sketch: Buffer }[]) => {
    const spaces = runOn(db, makeSpaces(vectors.map(({ vector }) => vector)))
    const idOf = (vector: Vector) => spaces.get(vector.space.key)!
    insertVectors(vectors.map(({ number, vector }) => [number, idOf(vector), bytesOf(vector.values)]))
    insertSketches(vectors.map(({ number, vector, sketch }) => [number, idOf(vector), sketch]))
  }
}
