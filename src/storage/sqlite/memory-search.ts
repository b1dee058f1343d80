import {
  type Candidate,
  type Found,
  type MemoryFilter,
  mostSearched,
  type Scope,
  type SearchQuery,
  type SpellingLookup,
  type Vector,
} from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { row, rows, type Statement, sql, type Work, word } from '../port/port.ts'
import { type CandidateRow, candidateOf } from '../shared/memory-rows.ts'
import { rangeOf, type ScopeRow, width } from '../shared/memory-scope.ts'
import { bestOf, frequencyOf, mostPostings, type Postings } from '../shared/memory-scoring.ts'
import { bytesOf, exactComponents, sketched, sketchOf } from '../shared/vector-bytes.ts'
import { conditionOf, isUnexpired } from '../stores/memory-filter.ts'
import { findScope } from '../stores/memory-scope.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'

/**
 * Searches scopes: first for the memories with its words, in one view of the database, then for the nearest vectors, and then
 * reads the chosen memories, both in slices between which the event loop goes on. What is removed meanwhile is left out.
 */
export function createMemorySearch(db: Database): (scope: Scope, query: SearchQuery) => Promise<Found> {
  const nearest = nearestFinderOf(db)
  const inOneView = db.transaction((scope: Scope, query: SearchQuery) => runOn(db, findWords(scope, query)))
  return async (scope, query) => {
    const words = inOneView(scope, query)
    if (!words) return { memories: 0, meanLength: 0, frequencies: query.terms.map(() => 0), candidates: [] }
    const { best, figures } = words
    const cosines = query.vector ? await nearest(words, query.vector, Math.ceil(query.candidates / 2)) : new Map()
    const candidates: Candidate[] = []
    const { slices, isCut } = slicesOf(runOn(db, sizesOf([...new Set([...best, ...cosines.keys()])])))
    for (const [at, numbers] of slices.entries()) {
      if (at > 0) await yieldToEventLoop()
      const found = runOn(db, readRows(words.found.scope_id, numbers, query.since))
      candidates.push(...found.map((each) => candidateOf(scope, each, cosines.get(each.memory_id))))
    }
    return { ...figures, candidates, ...(isCut && { isCut }) }
  }
}

/** What the words of a search have found in a scope. */
interface FoundWords {
  readonly found: ScopeRow
  readonly passing: Passing | undefined
  readonly figures: Pick<Found, 'memories' | 'meanLength' | 'frequencies'>
  /** The numbers of memories with the words, the best at the front. */
  readonly best: readonly number[]
}

function* findWords(scope: Scope, query: SearchQuery): Work<FoundWords | undefined> {
  const found = yield* findScope(scope)
  if (!found) return undefined
  const passing = yield* passingOf(found, query.filter, query.candidates)
  const { frequencies, best } = yield* findTerms(found, query, passing)
  const figures = { memories: found.memories, meanLength: found.length / Math.max(1, found.memories), frequencies }
  return { found, passing, figures, best }
}

/** A memory that is to be read, and the bytes of its texts. */
interface Size {
  readonly memory_id: number
  readonly size: number
}

/** SQLite knows the length of a text in bytes without reading it. */
function sizesOf(numbers: readonly number[]): Work<Size[]> {
  return rows(
    sql`SELECT memory_id, octet_length(terms) + octet_length(context) + octet_length(content) AS size
        FROM json_each(${JSON.stringify(numbers)}) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
        WHERE memory_id = asked.value`,
  )
}

/** Bytes of memories or vectors that are read in one turn of the event loop: some ten milliseconds' work. */
const bytesAtOnce = 1_000_000

/** The numbers of memories that are read together, as many as one search reads. */
function slicesOf(sizes: readonly Size[]): {
  readonly slices: readonly (readonly number[])[]
  readonly isCut: boolean
} {
  const slices: number[][] = []
  let left = 0
  let all = 0
  for (const { memory_id, size } of sizes) {
    if (all >= mostSearched) return { slices, isCut: true }
    all += size
    if (slices.length === 0 || size > left) {
      slices.push([])
      left = bytesAtOnce
    }
    slices.at(-1)!.push(memory_id)
    left -= size
  }
  return { slices, isCut: false }
}

/** Some of the chosen, in their order; those that have gone meanwhile are left out. */
function readRows(scopeId: number, numbers: readonly number[], since: number | undefined): Work<CandidateRow[]> {
  return rows(
    sql`SELECT terms, about, context, memory_id, memory.id, content, timestamp, importance, metadata
        FROM json_each(${JSON.stringify(numbers)}) AS asked CROSS JOIN memory_terms CROSS JOIN memory USING (memory_id)
        WHERE memory_id = asked.value AND +scope_id = ${scopeId} AND ${isUnexpired(since)}`,
  )
}

/** The memories of one scope that pass a filter. */
interface Passing {
  /** A condition on a column that holds a memory's number. */
  condition(column: string): Statement
  /** The numbers of all of them, where they are no more than were asked for. */
  readonly all: readonly number[] | undefined
}

/** Memories that are gathered before a search rather than tested one by one: some milliseconds' work. */
const gathered = 5_000

/** How a search is to apply a filter; undefined without conditions. @param few so many are given as `all` */
function* passingOf(scope: ScopeRow, filter: MemoryFilter | undefined, few: number): Work<Passing | undefined> {
  const wanted = filter && conditionOf(filter)
  if (!wanted) return undefined
  const where = sql`scope_id = ${scope.scope_id} AND ${wanted}`
  const first = yield* rows<{ memory_id: number }>(sql`SELECT memory_id FROM memory WHERE ${where} LIMIT ${few + 1}`)
  /** The sign keeps the numbers from being looked up one by one in the index of the outer statement. */
  const within = (column: string) => sql`+${word(column)} IN (SELECT memory_id FROM memory WHERE ${where})`
  if (first.length <= few) return { condition: within, all: first.map(({ memory_id }) => memory_id) }
  // To test each memory of a long list costs more than to gather the few that pass; where many pass, a list is cut off
  // before it was long.
  const most = Math.max(gathered, scope.memories >> 4)
  const counted = yield* row<{ count: number }>(
    sql`SELECT count(*) AS count FROM (SELECT 1 FROM memory WHERE ${where} LIMIT ${most})`,
  )
  const eachOf = (column: string) =>
    sql`EXISTS (SELECT 1 FROM memory AS one WHERE one.memory_id = ${word(column)} AND ${where})`
  return { condition: counted!.count < most ? within : eachOf, all: undefined }
}

/**
 * Counts the terms in the scope and gathers the memories with terms, and neighbours' terms, that are worth most
 * together. Terms hold letters, marks and digits only, so that within quotes none of them means anything to MATCH.
 */
function* findTerms(
  scope: ScopeRow,
  { terms, alike, candidates: limit }: SearchQuery,
  passing: Passing | undefined,
): Work<Postings> {
  const { low } = rangeOf(scope.scope_id)
  const inText = terms.map((term) => matchOf(scope, 'content', term))
  const all = yield* readLists(scope, inText)
  const frequencies = all.map((numbers) => frequencyOf(numbers, scope))
  if (passing?.all) return { frequencies, best: passing.all }
  const own = passing ? yield* readLists(scope, inText, passing) : all
  const around = yield* readLists(
    scope,
    terms.map((term) => matchOf(scope, 'about context', term)),
    passing,
  )
  const spelled = yield* readLists(scope, alike?.map((lookups) => matchOfAny(scope, lookups)) ?? [], passing)
  const best = bestOf({ own, around, spelled }, frequencies, scope.memories, limit)
  return { frequencies, best: best.map((number) => low + number) }
}

/**
 * For each expression the memories that match it, as their numbers within the scope: all in one statement, each list as one
 * text, since a row per posting would cost more than finding it.
 */
function* readLists(scope: ScopeRow, asked: readonly string[], passing?: Passing): Work<number[][]> {
  if (asked.length === 0) return []
  const { low, high } = rangeOf(scope.scope_id)
  // Reading backwards costs half as much again, so it is left to scopes in which a list can be too long.
  const cut = scope.memories > mostPostings ? sql`ORDER BY rowid DESC LIMIT ${mostPostings}` : sql``
  const condition = passing ? sql`AND ${passing.condition('memory_text.rowid')}` : sql``
  // A number within its scope is an integer so, where a difference to a bound `low` beyond 32 bits would be a float, which
  // SQLite writes and JSON reads at several times the cost.
  const found = yield* rows<{ list: string }>(
    sql`SELECT (SELECT json_group_array(number) FROM (
          SELECT (rowid & ${mask}) AS number FROM memory_text
           WHERE memory_text MATCH asked.value AND rowid BETWEEN ${low} AND ${high} ${condition} ${cut})) AS list
        FROM json_each(${JSON.stringify(asked)}) AS asked ORDER BY asked.key`,
  )
  return found.map(({ list }) => JSON.parse(list) as number[])
}

const mask = word(String(width - 1))

/**
 * A term as the full-text index knows it: with its scope's number before it, so that a scope has posting lists of its own.
 * The view `memory_indexed` writes the same. No term holds a dot, so no two scopes' terms are alike.
 */
function indexedTerm({ scope_id }: ScopeRow, term: string): string {
  return `${scope_id}·${term}`
}

function matchOf(scope: ScopeRow, columns: 'content' | 'about context', term: string): string {
  return `{${columns}} : "${indexedTerm(scope, term)}"`
}

/** Matches any of the words in a memory's own text; without lookups nothing, as no term is empty. */
function matchOfAny(scope: ScopeRow, lookups: readonly SpellingLookup[]): string {
  if (lookups.length === 0) return `"${indexedTerm(scope, '')}"`
  const words = lookups.map(({ text, isPrefix }) => `"${indexedTerm(scope, text)}"${isPrefix ? ' *' : ''}`)
  return `{content} : (${words.join(' OR ')})`
}

/** Finds the nearest memories: in a large scope those of the nearest sketches are compared exactly. */
function nearestFinderOf(db: Database) {
  // One value per memory asked for, in their order, null for one without a vector: rows of two would cost twice as much to
  // hand over. Between unit vectors the Euclidean distance says the same as the cosine and costs a third less.
  const distances = db
    .prepare<[Buffer, string, number, number, number], number | null>(
      `SELECT CASE WHEN vector IS NOT NULL THEN vec_distance_l2(vector, ?) END
         FROM json_each(?) AS asked LEFT JOIN memory_vector
           ON memory_id = asked.value AND memory_id BETWEEN ? AND ? AND +space_id = ?
        ORDER BY asked.key`,
    )
    .pluck()

  /** The nearest memories of a scope and, whether near or not, the cosines of those with its words. */
  return async function nearest(
    { found: scope, best: others, passing }: FoundWords,
    { space: { key }, values }: Vector,
    limit: number,
  ): Promise<ReadonlyMap<number, number>> {
    const known = runOn(db, row<{ space_id: number }>(sql`SELECT space_id FROM embedding_space WHERE key = ${key}`))
    if (!known) return new Map()
    const space = known.space_id
    const { low, high } = rangeOf(scope.scope_id)
    const bytes = bytesOf(values)
    const cosines = async (numbers: readonly number[]) => {
      const found: [number, number][] = []
      const atOnce = Math.ceil(bytesAtOnce / bytes.length)
      for (let at = 0; at < numbers.length; at += atOnce) {
        if (at > 0) await yieldToEventLoop()
        const some = numbers.slice(at, at + atOnce)
        distances.all(bytes, JSON.stringify(some), low, high, space).forEach((distance, place) => {
          if (distance !== null) found.push([some[place]!, cosineOf(distance)])
        })
      }
      return found
    }
    // All that pass are compared where they are that few.
    if (passing?.all) return new Map(await cosines(passing.all))
    const condition = (column: string) => (passing ? sql`AND ${passing.condition(column)}` : sql``)
    if (scope.memories * values.length <= exactComponents) {
      // Over ordinary tables an ORDER BY over the distance is one pass; over vec0 it would be a trap (see the schema).
      const nearby = runOn(
        db,
        rows<Near>(
          sql`SELECT memory_id, vec_distance_l2(vector, ${bytes}) AS distance FROM memory_vector
              WHERE memory_id BETWEEN ${low} AND ${high} AND +space_id = ${space} ${condition('memory_vector.memory_id')}
              ORDER BY distance LIMIT ${limit}`,
        ),
      )
      const near = new Map(nearby.map(({ memory_id, distance }) => [memory_id, cosineOf(distance)]))
      return new Map([...near, ...(await cosines(others.filter((number) => !near.has(number))))])
    }
    const wanted = new Set(others)
    const bits = sketchOf(values)
    const most = sketched(limit, scope.memories)
    const chosen: Near[] = []
    for (let first = low; first <= low + scope.last_number; first += sketchesAtOnce) {
      await yieldToEventLoop()
      const some = rows<Near>(
        sql`SELECT memory_id, vec_distance_hamming(vec_bit(bits), vec_bit(${bits})) AS distance FROM memory_sketch
            WHERE memory_id BETWEEN ${first} AND ${first + sketchesAtOnce - 1} AND space_id = ${space}
              ${condition('memory_sketch.memory_id')} ORDER BY distance LIMIT ${most}`,
      )
      chosen.push(...runOn(db, some))
    }
    chosen.sort((a, b) => a.distance - b.distance)
    await yieldToEventLoop()
    const numbers = new Set([...others, ...chosen.slice(0, most).map(({ memory_id }) => memory_id)])
    const compared = (await cosines([...numbers])).sort(([, a], [, b]) => b - a)
    return new Map(compared.filter(([number], place) => place < limit || wanted.has(number)))
  }
}

/** Numbers of memories whose sketches one statement compares: some milliseconds' work. */
const sketchesAtOnce = 2 ** 15

interface Near {
  readonly memory_id: number
  readonly distance: number
}

/** Between unit vectors the cosine follows from the Euclidean distance. */
function cosineOf(distance: number): number {
  return 1 - distance ** 2 / 2
}
