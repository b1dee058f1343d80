import { AppError } from '../../errors.ts'
import type { EmbeddingSpace, Vector } from '../../personas/personas.ts'
import type { MemoryIndex, NumberedVector } from '../port/memory-index.ts'
import { among, rows, run, type Statement, sql, tableOf, together, type Work, word } from '../port/port.ts'

export type Spaces = ReadonlyMap<string, number>

/** The numbers of the vectors' spaces, which are made if need be. Throws `invalid` for a vector of another length than its space. */
export function* makeSpaces(vectors: readonly Vector[]): Work<Spaces> {
  if (vectors.length === 0) return new Map()
  const spaces = [...new Map(vectors.map(({ space }) => [space.key, space])).values()]
  const made = tableOf(
    { key: 'text', model: 'text', dimension: 'integer' },
    spaces.map(({ key, model, dimension }) => [key, model, dimension]),
  )
  const [, found] = yield* together(
    // Without the condition every write would take a number of the sequence.
    run(
      sql`INSERT INTO embedding_space (key, model, dimension) SELECT t.key, t.model, t.dimension FROM ${made} AS t
          WHERE NOT EXISTS (SELECT 1 FROM embedding_space known WHERE known.key = t.key) ON CONFLICT DO NOTHING`,
    ),
    rows<EmbeddingSpace & { space_id: number }>(
      sql`SELECT * FROM embedding_space WHERE key ${among(spaces.map(({ key }) => key))}`,
    ),
  )
  const known = new Map(found.map((space) => [space.key, space]))
  for (const { space, values } of vectors) {
    const { dimension } = known.get(space.key)!
    if (values.length !== dimension)
      throw new AppError('invalid', `A vector of the space ${space.key} has another length`, {
        details: [`it has ${values.length} components, the space ${dimension}`],
      })
  }
  return new Map(found.map(({ key, space_id }) => [key, space_id]))
}

/** Stores the vectors of memories; the last one of a memory counts. Expects that the scope is locked. */
export function* putVectors(index: MemoryIndex, vectors: readonly NumberedVector[], spaces: Spaces): Work<void> {
  if (vectors.length === 0) return
  const last = new Map(vectors.map((each) => [each.number, each]))
  yield* index.putVectors(
    Array.from(last.values(), ({ number, vector: { space, values } }) => ({
      number,
      spaceId: spaces.get(space.key)!,
      values,
    })),
  )
}

/** Removes the vectors of memories; their sketches go by foreign key. */
export function removeVectors(numbers: readonly number[]): Work<number> {
  return run(sql`DELETE FROM memory_vector WHERE memory_id ${among(numbers)}`)
}

/** Columns of a row that joins `joinedVector`, for `vectorIn`. */
export interface VectorRow {
  readonly wire: Buffer | null
  readonly key: string
  readonly model: string
  readonly dimension: number
}

/** The columns of a `VectorRow`. */
export function vectorColumns({ vectorBytes }: MemoryIndex): Statement {
  return sql`${vectorBytes} AS wire, embedding_space.key, embedding_space.model, embedding_space.dimension`
}

/** The joins behind `memory` that bring them. */
export const joinedVector = word(`LEFT JOIN memory_vector ON memory_vector.memory_id = memory.memory_id
  LEFT JOIN embedding_space ON embedding_space.space_id = memory_vector.space_id`)

/** The vector of a row; undefined where the memory has none. */
export function vectorIn(index: MemoryIndex, { wire, key, model, dimension }: VectorRow): Vector | undefined {
  return wire === null ? undefined : { space: { key, model, dimension }, values: index.readVector(wire) }
}

/** The vectors of memories. */
export function* readVectors(index: MemoryIndex, numbers: readonly number[]): Work<ReadonlyMap<number, Vector>> {
  if (numbers.length === 0) return new Map()
  const found = yield* rows<VectorRow & { memory_id: number }>(
    sql`SELECT memory.memory_id, ${vectorColumns(index)} FROM memory ${joinedVector}
        WHERE memory.memory_id ${among(numbers)}`,
  )
  return new Map(
    found.flatMap((each) => {
      const vector = vectorIn(index, each)
      return vector ? [[each.memory_id, vector]] : []
    }),
  )
}
