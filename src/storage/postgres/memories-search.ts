import {
  type Candidate,
  type Found,
  type MemoryFilter,
  mostSearched,
  type Scope,
  type SearchQuery,
  type Vector,
} from '../../personas/memory/memory.ts'
import { inTurns } from '../../process/heavy-turns.ts'
import { type CandidateRow, candidateOf } from '../shared/memory-rows.ts'
import { rangeOf, type ScopeRow, width } from '../shared/memory-scope.ts'
import { bestOf, frequencyOf, type Postings } from '../shared/memory-scoring.ts'
import { exactComponents, sketched } from '../shared/vector-bytes.ts'
import { conditionsOf, Parameters } from './memories-filter.ts'
import { type FoundSet, type Lookup, lookupsOf, numbersIn } from './memories-postings.ts'
import { isScope, valuesOfScope } from './memories-scope.ts'
import { sketchBits } from './memories-vectors.ts'
import type { Sql } from './sql.ts'
import { cosineOf, writeVector } from './vector-wire.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * Searches a scope in two round trips: the words' part, which is scored here, and then vectors and rows together. Where the
 * server has no pgvector, the vectors are compared here and the rows are a third one.
 */
export async function searchMemories(sql: Sql, column: VectorColumn, scope: Scope, query: SearchQuery): Promise<Found> {
  const [index, passing] = await Promise.all([
    readIndex(sql, scope, query),
    query.filter && readPassing(sql, scope, query.filter),
  ])
  if (!index) return { memories: 0, meanLength: 0, frequencies: query.terms.map(() => 0), candidates: [] }
  const { row, spaceId } = index
  const few = passing && passing.length <= query.candidates
  const { frequencies, best } = scored(index, query, passing && { numbers: passing, few: few === true })
  const asked: Asked = { row, best, since: query.since ?? Number.MIN_SAFE_INTEGER }
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
  const rows = await (!nearby
    ? readRows(sql, asked, best)
    : column === 'vector'
      ? readNearest(sql, asked, nearby)
      : compareHere(sql, asked, nearby))
  const places = new Map(best.map((number, place) => [number, place]))
  const placeOf = ({ memory_id }: FoundRow) => places.get(memory_id) ?? best.length
  const ordered = rows.toSorted((a, b) => placeOf(a) - placeOf(b))
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
  /** The numbers of the best by words. */
  readonly best: readonly number[]
  readonly since: number
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
  readonly lookups: readonly Lookup[]
  /** For each lookup the sets that it brings. */
  readonly own: readonly (readonly FoundSet[])[]
  readonly around: readonly (readonly FoundSet[])[]
}

interface IndexRow extends ScopeRow {
  readonly space_id: number | null
  /** The place of the lookup, from 1; null without any. */
  readonly place: number | null
  readonly block: number | null
  readonly own: Buffer
  readonly around: Buffer
}

/** The scope, the number of the query's space, and the index rows of its terms, in one statement. */
async function readIndex(sql: Sql, scope: Scope, { terms, alike, vector }: SearchQuery): Promise<Index | undefined> {
  const lookups = lookupsOf(terms, alike)
  const low = lookups.map((lookup) => lookup.low)
  const hasRanges = lookups.some(({ high }) => high !== null)
  const values = [...valuesOfScope(scope), low, vector?.space.key ?? null, vector?.values.length ?? 0]
  const found = await sql.rows<IndexRow>(
    `SELECT s.scope_id, s.last_number, s.memories, s.length, asked.place::int, p.block, p.own, p.around,
            (SELECT space_id FROM embedding_space WHERE key = $4 AND dimension = $5) AS space_id
       FROM (SELECT * FROM memory_scope WHERE ${isScope}) s
       LEFT JOIN ${hasRanges ? 'unnest($3::text[], $6::text[]) WITH ORDINALITY AS asked (low, high, place)' : 'unnest($3::text[]) WITH ORDINALITY AS asked (low, place)'} ON true
       LEFT JOIN LATERAL (SELECT block, own, around FROM memory_posting WHERE scope_id = s.scope_id
         AND ${hasRanges ? 'term >= asked.low AND term <= coalesce(asked.high, asked.low)' : 'term = asked.low'} OFFSET 0) p ON true`,
    hasRanges ? [...values, lookups.map(({ high }) => high)] : values,
  )
  const first = found[0]
  if (!first) return undefined
  const { scope_id, last_number, memories, length, space_id } = first
  const own: FoundSet[][] = lookups.map(() => [])
  const around: FoundSet[][] = lookups.map(() => [])
  for (const { place, block, own: text, around: near } of found) {
    if (place === null || block === null) continue
    own[place - 1]!.push({ block, bytes: text })
    around[place - 1]!.push({ block, bytes: near })
  }
  return { row: { scope_id, last_number, memories, length }, spaceId: space_id, lookups, own, around }
}

/** The numbers within the scope of all memories that pass; undefined where the filter has no condition. */
async function readPassing(sql: Sql, scope: Scope, filter: MemoryFilter): Promise<readonly number[] | undefined> {
  const parameters = new Parameters(valuesOfScope(scope))
  const conditions = conditionsOf(filter, parameters)
  if (conditions.length === 0) return undefined
  const row = await sql.row<{ numbers: string | null }>(
    `SELECT string_agg((memory_id & ${width - 1})::text, ',') AS numbers
       FROM memory_scope JOIN memory USING (scope_id) WHERE ${isScope} AND ${conditions.join(' AND ')}`,
    parameters.values,
  )
  return JSON.parse(`[${row?.numbers ?? ''}]`)
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

const candidateColumns =
  'memory.memory_id, terms, about, context, memory.id, content, memory.timestamp, importance, metadata'

/** The memories of these numbers, which the scope's own index gave: the planner would read a whole scope to compare it. */
function readRows(sql: Sql, { since }: Asked, numbers: readonly number[]): Promise<FoundRow[]> {
  return sql.rows<FoundRow>(
    `SELECT ${candidateColumns}, NULL AS cosine FROM memory JOIN memory_terms USING (memory_id)
      WHERE memory.memory_id = ANY ($1) AND (pinned OR stored_at >= $2)`,
    [numbers, since],
  )
}

/** The same and the nearest, with their cosines, by pgvector. */
function readNearest(sql: Sql, asked: Asked, nearby: Nearby): Promise<FoundRow[]> {
  const parameters = new Parameters()
  const vector = parameters.add(writeVector(nearby.vector.values))
  const best = parameters.add(asked.best)
  const space = parameters.add(nearby.spaceId)
  return sql.rows<FoundRow>(
    `WITH asked AS MATERIALIZED (SELECT ${vector}::vector AS vector),
       chosen AS MATERIALIZED (${chosen(asked, nearby, { parameters, best, space })}),
       compared AS (SELECT chosen.memory_id, v.vector <#> (SELECT vector FROM asked) AS distance
         FROM chosen LEFT JOIN memory_vector v ON v.memory_id = chosen.memory_id AND v.space_id = ${space}),
       ranked AS (SELECT memory_id, distance, row_number() OVER (ORDER BY distance, memory_id) AS place FROM compared)
     SELECT ${candidateColumns}, -distance AS cosine
       FROM ranked JOIN memory USING (memory_id) JOIN memory_terms USING (memory_id)
      WHERE (distance IS NOT NULL AND place <= ${parameters.add(nearby.limit)} OR memory_id = ANY (${best}))
        AND (pinned OR stored_at >= ${parameters.add(asked.since)})`,
    parameters.values,
  )
}

/** The same without pgvector: the vectors are compared in this process. */
async function compareHere(sql: Sql, asked: Asked, nearby: Nearby): Promise<FoundRow[]> {
  const parameters = new Parameters()
  const best = parameters.add(asked.best)
  const space = parameters.add(nearby.spaceId)
  const compared = await sql.rows<{ memory_id: number; bytes: Buffer }>(
    `WITH chosen AS MATERIALIZED (${chosen(asked, nearby, { parameters, best, space })})
     SELECT memory_id, bytes FROM chosen JOIN memory_vector USING (memory_id) WHERE space_id = ${space}`,
    parameters.values,
  )
  const ranked = compared
    .map(({ memory_id, bytes }) => ({ memory_id, cosine: cosineOf(bytes, nearby.vector.values) }))
    .sort((one, other) => other.cosine - one.cosine || one.memory_id - other.memory_id)
  const wanted = new Set(asked.best)
  const near = ranked.filter(({ memory_id }, place) => place < nearby.limit || wanted.has(memory_id))
  const cosines = new Map(near.map(({ memory_id, cosine }) => [memory_id, cosine]))
  const rows = await readRows(sql, asked, [...new Set([...asked.best, ...cosines.keys()])])
  return rows.map((row) => ({ ...row, cosine: cosines.get(row.memory_id) ?? null }))
}

/**
 * SQL for the memories that are compared exactly: the best by words and, in a scope of few components, all, else the nearest
 * by their sketches.
 */
function chosen(
  { row }: Asked,
  { vector, limit, filter, isOnlyBest }: Nearby,
  { parameters, best, space }: { readonly parameters: Parameters; readonly best: string; readonly space: string },
): string {
  const wanted = `SELECT unnest(${best}::bigint[]) AS memory_id`
  if (isOnlyBest) return wanted
  const { low, high } = rangeOf(row.scope_id)
  const conditions = conditionsOf(filter ?? {}, parameters)
  const within = [
    `memory_id BETWEEN ${parameters.add(low)} AND ${parameters.add(high)} AND space_id = ${space}`,
    ...(conditions.length === 0
      ? []
      : [
          `memory_id IN (SELECT memory_id FROM memory
             WHERE scope_id = ${parameters.add(row.scope_id)} AND ${conditions.join(' AND ')})`,
        ]),
  ].join(' AND ')
  if (row.memories * vector.values.length <= exactComponents)
    return `${wanted} UNION SELECT memory_id FROM memory_vector WHERE ${within}`
  const bits = parameters.add(sketchBits(vector.values))
  const most = parameters.add(sketched(limit, row.memories))
  return `${wanted} UNION (SELECT memory_id FROM memory_sketch WHERE ${within}
      ORDER BY bit_count(bits # ${bits}::varbit), memory_id LIMIT ${most})`
}
