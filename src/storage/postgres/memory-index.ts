import { gap, reach } from '../../personas/personas.ts'
import type { MemoryIndex, PlacedVector, Surrounded, TermsChange } from '../port/memory-index.ts'
import { insertNamed, nothing, type Statement, sql, together, type Work } from '../port/port.ts'
import { sketchOf } from '../shared/vector-bytes.ts'
import { onPostgres } from './driver.ts'
import { createPostingChanges } from './memories-postings.ts'
import { readVector, writeVector } from './vector-wire.ts'
import type { VectorColumn } from './vectors-table.ts'

/** The index of memories in a database that keeps vectors in this column. */
export function memoryIndexOf(column: VectorColumn): MemoryIndex {
  return {
    neighbours,
    surroundings,
    write,
    // Rows of postings are changed by the terms that a memory had.
    forget: () => nothing(),
    putVectors: (vectors) => putVectors(column, vectors),
    vectorBytes: vectorBytes[column],
    readVector,
    hasLabelColumns: true,
  }
}

const vectorBytes: Readonly<Record<VectorColumn, Statement>> = {
  vector: sql`vector_send(memory_vector.vector)`,
  bytes: sql`memory_vector.bytes`,
}

/**
 * SQL for the memories before and after each row of `from`, with their distances. A comparison of a pair of columns is a range
 * of the index `memory_order`, of which the first rows are read; those beyond the gap are left out of them afterwards: with
 * both in one condition an index without the conversation looks as good, where there are no statistics yet of an import.
 */
const near = (from: string) => `
  LATERAL (
    SELECT * FROM (
      SELECT m.memory_id, m.conversation, m.timestamp, -row_number() OVER (ORDER BY m.timestamp DESC, m.memory_id DESC) AS distance
        FROM memory m WHERE m.scope_id = $1 AND m.conversation = ${from}.conversation
         AND (m.timestamp, m.memory_id) < (${from}.timestamp, ${from}.memory_id)
       ORDER BY m.timestamp DESC, m.memory_id DESC LIMIT ${reach}) before WHERE before.timestamp >= ${from}.timestamp - ${gap}
    UNION ALL
    SELECT * FROM (
      SELECT m.memory_id, m.conversation, m.timestamp, row_number() OVER (ORDER BY m.timestamp, m.memory_id) AS distance
        FROM memory m WHERE m.scope_id = $1 AND m.conversation = ${from}.conversation
         AND (m.timestamp, m.memory_id) > (${from}.timestamp, ${from}.memory_id)
       ORDER BY m.timestamp, m.memory_id LIMIT ${reach}) after WHERE after.timestamp <= ${from}.timestamp + ${gap}
  ) near`

function* neighbours(scopeId: number, numbers: readonly number[]): Work<readonly number[]> {
  const found = yield* onPostgres((tx) =>
    tx.rows<{ memory_id: number }>(
      `SELECT DISTINCT near.memory_id FROM memory asked CROSS JOIN ${near('asked')}
        WHERE asked.memory_id = ANY ($2) AND NOT near.memory_id = ANY ($2)`,
      [scopeId, numbers],
    ),
  )
  return found.map(({ memory_id }) => memory_id)
}

/** One statement. Each memory is looked up by itself: `OFFSET` keeps the planner from reading all memories to join them. */
function* surroundings(
  scopeId: number,
  changed: readonly number[],
  others: readonly number[],
): Work<readonly Surrounded[]> {
  const found = yield* onPostgres((tx) =>
    tx.rows<Omit<Surrounded, 'around'> & { around: string | null }>(
      `WITH asked AS MATERIALIZED (SELECT memory_id, conversation, timestamp FROM memory WHERE memory_id = ANY ($2)),
         touched AS MATERIALIZED (
           SELECT * FROM asked
           UNION SELECT near.memory_id, near.conversation, near.timestamp FROM asked CROSS JOIN ${near('asked')}
           UNION SELECT memory_id, conversation, timestamp FROM memory WHERE memory_id = ANY ($3)),
         pairs AS MATERIALIZED (
           SELECT touched.memory_id AS of, near.memory_id, near.distance FROM touched LEFT JOIN ${near('touched')} ON true),
         listed AS (
           SELECT of AS memory_id, coalesce(string_agg(memory_id || ',' || distance, ',' ORDER BY distance > 0, abs(distance)), '') AS around
             FROM pairs GROUP BY of
           UNION ALL SELECT DISTINCT memory_id, NULL FROM pairs
            WHERE memory_id IS NOT NULL AND memory_id NOT IN (SELECT of FROM pairs))
       SELECT m.*, t.*, listed.around FROM listed CROSS JOIN LATERAL (
           SELECT memory_id, content, timestamp, metadata, conversation FROM memory
            WHERE memory_id = listed.memory_id OFFSET 0) m
         LEFT JOIN LATERAL (SELECT terms, about, context FROM memory_terms WHERE memory_id = listed.memory_id OFFSET 0) t ON true
        ORDER BY memory_id`,
      [scopeId, changed, others],
    ),
  )
  return found.map(({ around, ...row }) => ({ ...row, around: around === null ? undefined : pairsIn(around) }))
}

function pairsIn(list: string): [number: number, distance: number][] {
  const numbers = list === '' ? [] : list.split(',').map(Number)
  return Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[at * 2]!, numbers[at * 2 + 1]!])
}

const terms = {
  table: 'memory_terms',
  columns: { memory_id: 'integer', terms: 'text', about: 'text', context: 'text' },
  onConflict: '(memory_id) DO UPDATE SET terms = excluded.terms, about = excluded.about, context = excluded.context',
} as const

function* write(scopeId: number, changes: readonly TermsChange[]): Work<void> {
  const postings = createPostingChanges(scopeId)
  for (const { number, old, fresh } of changes) postings.change(number, old, fresh)
  const written = changes.flatMap(({ number, fresh }) => (fresh ? [{ ...fresh, memory_id: number }] : []))
  yield* together(insertNamed(terms, written), postings.write())
}

/** Vectors that one statement brings: a megabyte of the usual ones. */
const vectorsAtOnce = 100

function putVectors(column: VectorColumn, vectors: readonly PlacedVector[]): Work<void> {
  return onPostgres(async (tx) => {
    const writes: Promise<unknown>[] = []
    for (let at = 0; at < vectors.length; at += vectorsAtOnce) {
      const batch = vectors.slice(at, at + vectorsAtOnce)
      const places = batch.map((_, row) => `($${row * 3 + 1}::bigint, $${row * 3 + 2}::int, $${row * 3 + 3})`)
      writes.push(
        tx.run(
          `INSERT INTO memory_vector (memory_id, space_id, ${column}) VALUES ${places.join(', ')}
             ON CONFLICT (memory_id) DO UPDATE SET space_id = excluded.space_id, ${column} = excluded.${column}`,
          batch.flatMap(({ number, spaceId, values }) => [number, spaceId, writeVector(values)]),
        ),
      )
    }
    writes.push(
      tx.run(
        `INSERT INTO memory_sketch (memory_id, space_id, bits)
           SELECT * FROM unnest($1::bigint[], $2::int[], $3::varbit[])
           ON CONFLICT (memory_id) DO UPDATE SET space_id = excluded.space_id, bits = excluded.bits`,
        [
          vectors.map(({ number }) => number),
          vectors.map(({ spaceId }) => spaceId),
          vectors.map(({ values }) => sketchBits(values)),
        ],
      ),
    )
    await Promise.all(writes)
  })
}

/** A vector's sketch as text of the type `varbit`. */
export function sketchBits(values: Float32Array): string {
  return `x${sketchOf(values).toString('hex')}`
}
