import type { EmbeddingSpace, Vector } from '../../personas/memory/memory.ts'
import { rangeOf, type ScopeRow } from '../shared/memory-scope.ts'
import { bytesOf, exactComponents, sketched, sketchOf, valuesOf } from '../shared/vector-bytes.ts'
import type { Database } from './connection.ts'
import type { Passing } from './memories-filter.ts'
import { createRowsInsert } from './rows-insert.ts'
import { leastKept, type Sketches } from './sketches.ts'

interface SpaceRow {
  readonly space_id: number
  readonly key: string
  readonly model: string
  readonly dimension: number
}

/**
 * The vectors of memories. Every method expects to run inside the caller's transaction.
 * @param sketches searches the sketches of a large scope, of which the most is kept in memory
 */
export function createVectorIndex(db: Database, sketches?: Sketches) {
  const spaces = new Map<string, number>()
  const findSpace = db.prepare<[string], SpaceRow>('SELECT * FROM embedding_space WHERE key = ?')
  const readSpace = db.prepare<[number], SpaceRow>('SELECT * FROM embedding_space WHERE space_id = ?')
  const put = db.prepare('INSERT OR REPLACE INTO memory_vector (memory_id, space_id, vector) VALUES (?, ?, ?)')
  const putSketch = db.prepare('INSERT OR REPLACE INTO memory_sketch (memory_id, space_id, bits) VALUES (?, ?, ?)')
  const insertVectors = createRowsInsert(db, 'memory_vector', 'memory_id, space_id, vector')
  const insertSketches = createRowsInsert(db, 'memory_sketch', 'memory_id, space_id, bits')
  const remove = db.prepare('DELETE FROM memory_vector WHERE memory_id = ?')
  const read = db.prepare<[number], { space_id: number; vector: Buffer }>(
    'SELECT space_id, vector FROM memory_vector WHERE memory_id = ?',
  )
  // Over ordinary tables an ORDER BY over the distance is one pass; over vec0 it would be a trap (see the schema). Between
  // unit vectors the Euclidean distance says the same as the cosine and costs a third less.
  const prepareNearest = (condition = '') =>
    db
      .prepare<[object], [number, number]>(
        `SELECT memory_id, vec_distance_l2(vector, @bytes) AS distance FROM memory_vector
          WHERE memory_id BETWEEN @low AND @high AND +space_id = @space ${condition} ORDER BY distance LIMIT @limit`,
      )
      .raw()
  const nearest = prepareNearest()
  const prepareSketches = (condition = '') =>
    db
      .prepare<[object], number>(
        `SELECT memory_id FROM memory_sketch WHERE memory_id BETWEEN @low AND @high AND space_id = @space ${condition}
          ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(@bits)) LIMIT @limit`,
      )
      .pluck()
  // One value per memory asked for, in their order, null for one without a vector: rows of two would cost twice as much to
  // hand over.
  const distances = db
    .prepare<[Buffer, string, number, number, number], number | null>(
      `SELECT CASE WHEN vector IS NOT NULL THEN vec_distance_l2(vector, ?) END
         FROM json_each(?) AS asked LEFT JOIN memory_vector
           ON memory_id = asked.value AND memory_id BETWEEN ? AND ? AND +space_id = ?
        ORDER BY asked.key`,
    )
    .pluck()

  return {
    put(number: number, vector: Vector): void {
      const space = makeSpace(vector.space)
      put.run(number, space, bytesOf(vector.values))
      putSketch.run(number, space, sketchOf(vector.values))
    },

    /** The vectors of new memories, and the sketches of the vectors. Returns the numbers of their spaces by key. */
    putNew(
      vectors: readonly { readonly number: number; readonly vector: Vector; readonly sketch: Buffer }[],
    ): ReadonlyMap<string, number> {
      const found = new Map<string, number>()
      const rows = vectors.map(({ number, vector: { space, values }, sketch }) => {
        const id = found.get(space.key) ?? makeSpace(space)
        found.set(space.key, id)
        return { vector: [number, id, bytesOf(values)], sketch: [number, id, sketch] }
      })
      insertVectors(rows.map(({ vector }) => vector))
      insertSketches(rows.map(({ sketch }) => sketch))
      return found
    },

    /** Removes a memory's vector; its sketch goes by foreign key. */
    remove(number: number): void {
      remove.run(number)
    },

    read(number: number): Vector | undefined {
      const row = read.get(number)
      const space = row && readSpace.get(row.space_id)
      if (!row || !space) return undefined
      const { key, model, dimension } = space
      return { space: { key, model, dimension }, values: valuesOf(row.vector) }
    },

    /** The nearest memories of a scope and, whether near or not, the cosines of the others asked for. */
    search(
      scope: ScopeRow,
      query: Vector,
      others: readonly number[],
      limit: number,
      passing?: Passing,
    ): Map<number, number> {
      const space = spaceId(query.space.key)
      if (space === undefined) return new Map()
      const { low, high } = rangeOf(scope.scope_id)
      const bytes = bytesOf(query.values)
      const cosines = (numbers: readonly number[]) => {
        const found: [number, number][] = []
        distances.all(bytes, JSON.stringify(numbers), low, high, space).forEach((distance, at) => {
          if (distance !== null) found.push([numbers[at]!, cosineOf(distance)])
        })
        return found
      }
      // All that pass are compared where they are that few.
      if (passing?.all) return new Map(cosines(passing.all))
      if (scope.memories * query.values.length <= exactComponents) {
        const statement = passing ? prepareNearest(`AND ${passing.condition('memory_vector.memory_id')}`) : nearest
        const nearby = statement.all({ ...passing?.values, bytes, low, high, space, limit })
        const near = nearby.map(([number, distance]): [number, number] => [number, cosineOf(distance)])
        const known = new Set(near.map(([number]) => number))
        return new Map([...near, ...cosines(others.filter((number) => !known.has(number)))])
      }
      const wanted = new Set(others)
      const bits = sketchOf(query.values)
      const most = sketched(limit, scope.memories)
      const chosen =
        !passing && sketches && scope.memories >= leastKept
          ? sketches.nearest(scope.scope_id, space, bits, most)
          : prepareSketches(passing && `AND ${passing.condition('memory_sketch.memory_id')}`).all({
              ...passing?.values,
              low,
              high,
              space,
              bits,
              limit: most,
            })
      const compared = cosines([...new Set([...others, ...chosen])]).sort(([, a], [, b]) => b - a)
      return new Map(compared.filter(([number], place) => place < limit || wanted.has(number)))
    },

    spaceId,
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

/** Between unit vectors the cosine follows from the Euclidean distance. */
function cosineOf(distance: number): number {
  return 1 - distance ** 2 / 2
}
