import type { EmbeddingSpace, Vector } from '../../personas/memory.ts'
import type { Database } from './database.ts'
import { rangeOf } from './memories-scope.ts'

interface SpaceRow {
  readonly space_id: number
  readonly key: string
  readonly model: string
  readonly dimension: number
}

/** The vectors of memories. Every method expects to run inside the caller's transaction. */
export function createVectorIndex(db: Database) {
  const spaces = new Map<string, number>()
  const findSpace = db.prepare<[string], SpaceRow>('SELECT * FROM embedding_space WHERE key = ?')
  const readSpace = db.prepare<[number], SpaceRow>('SELECT * FROM embedding_space WHERE space_id = ?')
  const put = db.prepare('INSERT OR REPLACE INTO memory_vector (memory_id, space_id, vector) VALUES (?, ?, ?)')
  const read = db.prepare<[number], { space_id: number; vector: Buffer }>(
    'SELECT space_id, vector FROM memory_vector WHERE memory_id = ?',
  )
  // Over an ordinary table an ORDER BY over the distance is one pass; over vec0 it would be a trap (see the schema). Between
  // unit vectors the Euclidean distance says the same as the cosine and costs a third less.
  const nearest = db
    .prepare<[Buffer, number, number, number, number], [number, number]>(
      `SELECT memory_id, vec_distance_l2(vector, ?) AS distance FROM memory_vector
        WHERE memory_id BETWEEN ? AND ? AND +space_id = ? ORDER BY distance LIMIT ?`,
    )
    .raw()
  const some = db
    .prepare<[Buffer, string, number, number, number], [number, number]>(
      `SELECT memory_id, vec_distance_l2(vector, ?) FROM json_each(?) AS asked CROSS JOIN memory_vector
        WHERE memory_id = asked.value AND memory_id BETWEEN ? AND ? AND +space_id = ?`,
    )
    .raw()
  const removeRange = db.prepare('DELETE FROM memory_vector WHERE memory_id BETWEEN ? AND ?')

  return {
    put(number: number, vector: Vector): void {
      put.run(number, makeSpace(vector.space), bytesOf(vector.values))
    },

    read(number: number): Vector | undefined {
      const row = read.get(number)
      const space = row && readSpace.get(row.space_id)
      if (!row || !space) return undefined
      const { key, model, dimension } = space
      return { space: { key, model, dimension }, values: valuesOf(row.vector) }
    },

    /** The nearest memories of a scope and, whether near or not, the cosines of the others asked for. */
    search(scopeId: number, query: Vector, others: readonly number[], limit: number): Map<number, number> {
      const space = spaceId(query.space.key)
      if (space === undefined) return new Map()
      const { low, high } = rangeOf(scopeId)
      const bytes = bytesOf(query.values)
      const near = nearest.all(bytes, low, high, space, limit)
      const known = new Set(near.map(([number]) => number))
      const left = JSON.stringify(others.filter((number) => !known.has(number)))
      const rest = some.all(bytes, left, low, high, space)
      return new Map([...near, ...rest].map(([number, distance]) => [number, 1 - distance ** 2 / 2]))
    },

    spaceId,

    removeScope(scopeId: number): void {
      const { low, high } = rangeOf(scopeId)
      removeRange.run(low, high)
    },
  }

  function spaceId(key: string | undefined): number | undefined {
    if (key === undefined) return undefined
    const id = spaces.get(key) ?? findSpace.get(key)?.space_id
    if (id !== undefined) spaces.set(key, id)
    return id
  }

  /** Not remembered before the transaction has ended well: it is looked up again by the next one. */
  function makeSpace(space: EmbeddingSpace): number {
    const id = findSpace.get(space.key)?.space_id
    if (id !== undefined) return id
    return Number(
      db
        .prepare('INSERT INTO embedding_space (key, model, dimension) VALUES (?, ?, ?)')
        .run(space.key, space.model, space.dimension).lastInsertRowid,
    )
  }
}

export type VectorIndex = ReturnType<typeof createVectorIndex>

/** Little-endian float32, which is what sqlite-vec reads. */
function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** A copy: the database's buffer need not be aligned. */
function valuesOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}
