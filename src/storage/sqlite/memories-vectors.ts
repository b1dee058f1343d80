import type { Vector } from '../../personas/memory/memory.ts'
import { bytesOf } from '../shared/vector-bytes.ts'
import { makeSpaces } from '../stores/memory-vectors.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { createRowsInsert } from './rows-insert.ts'

/** Writes the vectors of new memories, and the sketches of the vectors. The result is the numbers of their spaces by key. */
export function createVectorInsert(db: Database) {
  const insertVectors = createRowsInsert(db, 'memory_vector', 'memory_id, space_id, vector')
  const insertSketches = createRowsInsert(db, 'memory_sketch', 'memory_id, space_id, bits')
  return (vectors: readonly { readonly number: number; readonly vector: Vector; readonly sketch: Buffer }[]) => {
    const spaces = runOn(db, makeSpaces(vectors.map(({ vector }) => vector)))
    const idOf = (vector: Vector) => spaces.get(vector.space.key)!
    insertVectors(vectors.map(({ number, vector }) => [number, idOf(vector), bytesOf(vector.values)]))
    insertSketches(vectors.map(({ number, vector, sketch }) => [number, idOf(vector), sketch]))
    return spaces
  }
}
