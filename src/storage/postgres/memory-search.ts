import {
  type Candidate,
  type Found,
  type MemoryFilter,
  mostSearched,
  type Scope,
  type SearchQuery,
  type Vector,
} from '../../personas/personas.ts'
import { inTurns } from '../../process/process.ts'
import { among, row, rows, type Statement, sql, tableOf, together, type Work, word } from '../port/port.ts'
import { type CandidateRow, candidateOf } from '../shared/memory-rows.ts'
import { rangeOf, type ScopeRow, width } from '../shared/memory-scope.ts'
import { bestOf, frequencyOf, type Postings } from '../shared/memory-scoring.ts'
import { exactComponents, sketched } from '../shared/vector-bytes.ts'
import { conditionOf, isUnexpired } from '../stores/memory-filter.ts'
import { scopeId } from '../stores/memory-scope.ts'
import { runOn } from './driver.ts'
import { type FoundSet, lookupsOf, numbersIn } from './memories-postings.ts'
import { sketchBits } from './memory-index.ts'
import type { Sql } from './sql.ts'
import { cosineOf, writeVector } from './vector-wire.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * Searches a scope in two round trips: the words' part, which is scored here, and then vectors and rows together. Where the
 * server has no pgvector, the vectors are compared here and the rows are a third one.
 */
export async function searchMemories(db: Sql, column: VectorColumn, scope: Scope, query: SearchQuery): Promise<Found> {
  const [index, passing] = await runOn(db, together(readIndex(scope, query), readPassing(scope, query.filter)))
  if (!index) return { memories: 0, meanLength: 0, frequencies: query.terms.map(() => 0), candidates: [] }
  const { row, spaceId } = index
  const few = passing && passing.length <= query.candidates
  const { frequencies, best } = scored(index, query, passing && { numbers: passing, few: few === true })
  const asked: Asked = { row, best, since: query.since }
  const nearby: Nearby | undefined =
    query.vector && spaceId !== null
      ? {
          vector: query.vector,
          spaceId,
          limit: Math.ceil(query.candidates / 2),
          filter: query.filter,
          isOnlyBest: few === true,
        }
      : undefined
  const readNearby = column === 'vector' ? readNearest : compareHere
  const found = await runOn(db, nearby ? readNearby(asked, nearby) : readRows(asked, best))
  const places = new Map(best.map((number, place) => [number, place]))
  const placeOf = ({ memory_id }: FoundRow) => places.get(memory_id) ?? best.length
  const ordered = found.toSorted((a, b) => placeOf(a) - placeOf(b))
  const { candidates, isCut } = await inTurns(candidateSteps(scope, ordered))
  const figures = { memories: row.memories, meanLength: row.length / Math.max(1, row.memories), frequencies }
  return { ...figures, candidates, ...(isCut && { isCut }) }
}

/** The candidates of some rows, as many as one search reads. */
function* candidateSteps(
  scope: Scope,
  rows: readonly FoundRow[],
): Generator<number, { readonly candidates: readonly Candidate[]; readonly isCut: boolean }> {
  const candidates: Candidate[] = []
  let read = 0
  for (const row of rows) {
    if (read >= mostSearched) break
    candidates.push(candidateOf(scope, row, row.cosine))
    read += Buffer.byteLength(row.content) + Buffer.byteLength(row.terms) + Buffer.byteLength(row.context)
    yield row.metadata.length
  }
  return { candidates, isCut: candidates.length < rows.length }
}

interface Asked {
  readonly row: ScopeRow
  readonly best: readonly number[]
  readonly since: number | undefined
}

/** The nearest that a search looks for. */
interface Nearby {
  readonly vector: Vector
  readonly spaceId: number
  readonly limit: number
  readonly filter: MemoryFilter | undefined
  /** Whether only the best are compared: all memories that pass are among them. */
  readonly isOnlyBest: boolean
}

interface FoundRow extends CandidateRow {
  readonly cosine: number | null
}

interface Index {
  readonly row: ScopeRow
  readonly spaceId: number | null
  /** For each lookup the sets that it brings. */
  readonly own: readonly (readonly FoundSet[])[]
  readonly around: readonly (readonly FoundSet[])[]
}

interface IndexRow extends ScopeRow {
  readonly space_id: number | null
  /** The place of the lookup; null without any. */
  readonly place: number | null
  readonly block: number | null
  readonly own: Buffer
  readonly around: Buffer
}

/** The scope, the number of the query's space, and the index rows of its terms, in one statement. */
function* readIndex(scope: Scope, { terms, alike, vector }: SearchQuery): Work<Index | undefined> {
  const lookups = lookupsOf(terms, alike)
  const asked = tableOf(
    { low: 'text', high: 'text', place: 'integer' },
    lookups.map(({ low, high }, at) => [low, high, at]),
  )
  const hasRanges = lookups.some(({ high }) => high !== null)
  const found = yield* rows<IndexRow>(
    sql`SELECT s.scope_id, s.last_number, s.memories, s.length, asked.place, p.block, p.own, p.around,
          (SELECT space_id FROM embedding_space
            WHERE key = ${vector?.space.key} AND dimension = ${vector?.values.length ?? 0}) AS space_id
        FROM (SELECT * FROM memory_scope WHERE persona_id = ${scope.personaId} AND user_id = ${scope.userId}) s
        LEFT JOIN ${asked} AS asked ON true
        LEFT JOIN LATERAL (SELECT block, own, around FROM memory_posting WHERE scope_id = s.scope_id
          AND ${hasRanges ? inRange : sql`term = asked.low`} OFFSET 0) p ON true`,
  )
  const first = found[0]
  if (!first) return undefined
  const { scope_id, last_number, memories, length, space_id } = first
  const own: FoundSet[][] = lookups.map(() => [])
  const around: FoundSet[][] = lookups.map(() => [])
  for (const { place, block, own: text, around: near } of found) {
    if (place === null || block === null) continue
    own[place]!.push({ block, bytes: text })
    around[place]!.push({ block, bytes: near })
  }
  return { row: { scope_id, last_number, memories, length }, spaceId: space_id, own, around }
}

const inRange = sql`term >= asked.low AND term <= coalesce(asked.high, asked.low)`

/** The numbers within the scope of all memories that pass; undefined where the filter has no condition. */
function* readPassing(scope: Scope, filter: MemoryFilter | undefined): Work<readonly number[] | undefined> {
  const condition = filter && conditionOf(filter)
  if (!condition) return undefined
  const found = yield* row<{ numbers: string | null }>(
    sql`SELECT string_agg((memory_id & ${width - 1})::text, ',') AS numbers
        FROM memory WHERE scope_id = ${scopeId(scope)} AND ${condition}`,
  )
  return JSON.parse(`[${found?.numbers ?? ''}]`)
}

/** The frequencies of the terms and the memories that are best by them; all that pass where they are few. */
function scored(
  { row, own, around }: Index,
  { terms, alike, candidates }: SearchQuery,
  passing: { readonly numbers: readonly number[]; readonly few: boolean } | undefined,
): Postings {
  const { low } = rangeOf(row.scope_id)
  const count = terms.length
  const all = own.slice(0, count).map((sets) => numbersIn(sets, row.memories))
  const frequencies = all.map((numbers) => frequencyOf(numbers, row))
  if (passing?.few) return { frequencies, best: passing.numbers.map((number) => low + number) }
  const passes = passing && new Set(passing.numbers)
  const listed = (sets: readonly FoundSet[]) => numbersIn(sets, row.memories, passes)
  let at = count
  const spelled = (alike ?? []).map((lookups) => {
    const sets = own.slice(at, at + lookups.length).flat()
    at += lookups.length
    return listed(sets)
  })
  const lists = {
    own: passes ? own.slice(0, count).map(listed) : all,
    around: around.slice(0, count).map(listed),
    spelled,
  }
  const best = bestOf(lists, frequencies, row.memories, candidates)
  return { frequencies, best: best.map((number) => low + number) }
}

const candidateColumns = word(
  'memory.memory_id, terms, about, context, memory.id, content, memory.timestamp, importance, metadata',
)

/** The memories of these numbers, which the scope's own index gave: the planner would read a whole scope to compare it. */
function readRows({ since }: Asked, numbers: readonly number[]): Work<FoundRow[]> {
  return rows(
    sql`SELECT ${candidateColumns}, NULL AS cosine FROM memory JOIN memory_terms USING (memory_id)
        WHERE memory.memory_id ${among(numbers)} AND ${isUnexpired(since)}`,
  )
}

/** The same and the nearest, with their cosines, by pgvector. */
function readNearest(asked: Asked, nearby: Nearby): Work<FoundRow[]> {
  const { vector, spaceId, limit } = nearby
  return rows(
    sql`WITH asked AS MATERIALIZED (SELECT ${writeVector(vector.values)}::vector AS vector),
          chosen AS MATERIALIZED (${chosen(asked, nearby)}),
          compared AS (SELECT chosen.memory_id, v.vector <#> (SELECT vector FROM asked) AS distance
            FROM chosen LEFT JOIN memory_vector v ON v.memory_id = chosen.memory_id AND v.space_id = ${spaceId}),
          ranked AS (SELECT memory_id, distance, row_number() OVER (ORDER BY distance, memory_id) AS place FROM compared)
        SELECT ${candidateColumns}, -distance AS cosine
          FROM ranked JOIN memory USING (memory_id) JOIN memory_terms USING (memory_id)
         WHERE (distance IS NOT NULL AND place <= ${limit} OR memory_id ${among(asked.best)})
           AND ${isUnexpired(asked.since)}`,
  )
}

/** The same without pgvector: the vectors are compared in this process. */
function* compareHere(asked: Asked, nearby: Nearby): Work<FoundRow[]> {
  const compared = yield* rows<{ memory_id: number; bytes: Buffer }>(
    sql`WITH chosen AS MATERIALIZED (${chosen(asked, nearby)})
        SELECT memory_id, bytes FROM chosen JOIN memory_vector USING (memory_id) WHERE space_id = ${nearby.spaceId}`,
  )
  const ranked = compared
    .map(({ memory_id, bytes }) => ({ memory_id, cosine: cosineOf(bytes, nearby.vector.values) }))
    .sort((one, other) => other.cosine - one.cosine || one.memory_id - other.memory_id)
  const wanted = new Set(asked.best)
  const near = ranked.filter(({ memory_id }, place) => place < nearby.limit || wanted.has(memory_id))
  const cosines = new Map(near.map(({ memory_id, cosine }) => [memory_id, cosine]))
  const found = yield* readRows(asked, [...new Set([...asked.best, ...cosines.keys()])])
  return found.map((each) => ({ ...each, cosine: cosines.get(each.memory_id) ?? null }))
}

/** The memories compared exactly: the best by words and all of a small scope, else the nearest by sketches. */
function chosen({ row, best }: Asked, { vector, spaceId, limit, filter, isOnlyBest }: Nearby): Statement {
  const numbers = tableOf(
    { memory_id: 'integer' },
    best.map((number) => [number]),
  )
  const wanted = sql`SELECT memory_id FROM ${numbers} AS best`
  if (isOnlyBest) return wanted
  const { low, high } = rangeOf(row.scope_id)
  const condition = filter && conditionOf(filter)
  const passes = condition
    ? sql`AND memory_id IN (SELECT memory_id FROM memory WHERE scope_id = ${row.scope_id} AND ${condition})`
    : sql``
  const within = sql`memory_id BETWEEN ${low} AND ${high} AND space_id = ${spaceId} ${passes}`
  if (row.memories * vector.values.length <= exactComponents)
    return sql`${wanted} UNION SELECT memory_id FROM memory_vector WHERE ${within}`
  return sql`${wanted} UNION (SELECT memory_id FROM memory_sketch WHERE ${within}
    ORDER BY bit_count(bits # ${sketchBits(vector.values)}::varbit), memory_id LIMIT ${sketched(limit, row.memories)})`
}
