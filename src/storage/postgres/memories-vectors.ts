import { AppError } from '../../errors.ts'
import type { EmbeddingSpace, Vector } from '../../personas/memory/memory.ts'
import { sketchOf } from '../shared/vector-bytes.ts'
import { insertRows } from './insert-rows.ts'
import type { Sql, Transaction } from './sql.ts'
import { readVector, writeVector } from './vector-wire.ts'
import { wireOf } from './vectors-column.ts'
import type { VectorColumn } from './vectors-table.ts'

/** The vector of a memory. */
export interface NumberedVector {
  readonly number: number
  readonly vector: Vector
}

/** Vectors that one statement brings: a megabyte of the usual ones. */
const vectorsAtOnce = 100

/** Stores the vectors of memories with their sketches, in place of those before. Expects that the scope is locked. */
export async function putVectors(
  tx: Transaction,
  column: VectorColumn,
  vectors: readonly NumberedVector[],
): Promise<void> {
  if (vectors.length === 0) return
  const spaces = await makeSpaces(tx, vectors)
  const idOf = ({ vector }: NumberedVector) => spaces.get(vector.space.key)!
  // The last one of a memory counts.
  const rows = [...new Map(vectors.map((each) => [each.number, each])).values()]
  const writes: Promise<unknown>[] = []
  for (let at = 0; at < rows.length; at += vectorsAtOnce) {
    const batch = rows.slice(at, at + vectorsAtOnce)
    const places = batch.map((_, row) => `($${row * 3 + 1}::bigint, $${row * 3 + 2}::int, $${row * 3 + 3})`)
    writes.push(
      tx.run(
        `INSERT INTO memory_vector (memory_id, space_id, ${column}) VALUES ${places.join(', ')}
           ON CONFLICT (memory_id) DO UPDATE SET space_id = excluded.space_id, ${column} = excluded.${column}`,
        batch.flatMap((each) => [each.number, idOf(each), writeVector(each.vector.values)]),
      ),
    )
  }
  writes.push(
    insertRows(
      tx,
      'memory_sketch',
      { memory_id: 'bigint', space_id: 'int', bits: 'varbit' },
      rows.map((each) => ({ memory_id: each.number, space_id: idOf(each), bits: sketchBits(each.vector.values) })),
      'ON CONFLICT (memory_id) DO UPDATE SET space_id = excluded.space_id, bits = excluded.bits',
    ),
  )
  await Promise.all(writes)
}

/** A vector's sketch as text of the type `varbit`. */
export function sketchBits(values: Float32Array): string {
  return `x${sketchOf(values).toString('hex')}`
}

/** The numbers of the vectors' spaces, which are made if need be. Throws `invalid` for a vector of another length than its space. */
async function makeSpaces(tx: Transaction, vectors: readonly NumberedVector[]): Promise<ReadonlyMap<string, number>> {
  const spaces = [...new Map(vectors.map(({ vector }) => [vector.space.key, vector.space])).values()]
  const keys = spaces.map(({ key }) => key)
  const [, rows] = await Promise.all([
    // Without the condition every write would take a number of the sequence.
    tx.run(
      `INSERT INTO embedding_space (key, model, dimension)
         SELECT * FROM unnest($1::text[], $2::text[], $3::int[]) AS made (key, model, dimension)
          WHERE NOT EXISTS (SELECT 1 FROM embedding_space known WHERE known.key = made.key)
         ON CONFLICT DO NOTHING`,
      [keys, spaces.map(({ model }) => model), spaces.map(({ dimension }) => dimension)],
    ),
    tx.rows<EmbeddingSpace & { space_id: number }>('SELECT * FROM embedding_space WHERE key = ANY ($1)', [keys]),
  ])
  const known = new Map(rows.map((row) => [row.key, row]))
  for (const { vector } of vectors)
    if (vector.values.length !== known.get(vector.space.key)!.dimension)
      throw new AppError('invalid', `A vector of the space ${vector.space.key} has another length`, {
        details: [`it has ${vector.values.length} components, the space ${known.get(vector.space.key)!.dimension}`],
      })
  return new Map(rows.map(({ key, space_id }) => [key, space_id]))
}

/** Columns of a row that joins `joinedVector`, for `vectorIn`. */
export interface VectorRow {
  readonly wire: Buffer | null
  readonly key: string
  readonly model: string
  readonly dimension: number
}

/** SQL for the columns of a `VectorRow`, and the joins behind `memory` that bring them. */
export function vectorColumns(column: VectorColumn): string {
  return `${wireOf(column)} AS wire, embedding_space.key, embedding_space.model, embedding_space.dimension`
}

export const joinedVector = `LEFT JOIN memory_vector ON memory_vector.memory_id = memory.memory_id
  LEFT JOIN embedding_space ON embedding_space.space_id = memory_vector.space_id`

/** The vector of a row; undefined where the memory has none. */
export function vectorIn({ wire, key, model, dimension }: VectorRow): Vector | undefined {
  return wire === null ? undefined : { space: { key, model, dimension }, values: readVector(wire) }
}

/** The vectors of memories. */
export async function readVectors(
  sql: Sql,
  column: VectorColumn,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Vector>> {
  if (numbers.length === 0) return new Map()
  const rows = await sql.rows<VectorRow & { memory_id: number }>(
    `SELECT memory.memory_id, ${vectorColumns(column)} FROM memory ${joinedVector} WHERE memory.memory_id = ANY ($1)`,
    [numbers],
  )
  return new Map(rows.flatMap((row) => (row.wire === null ? [] : [[row.memory_id, vectorIn(row)!]])))
}
