import { type HeavyWork, inTurns } from '../../process/process.ts'
import { kindOf } from './kinds.ts'
import { linkedTerms } from './links.ts'
import type { Candidate, Found, MemoryFilter, MemoryStore, Scope, SearchQuery } from './memory.ts'
import { longestQuestion } from './questions.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { lookupsOf } from './ranking-spelling.ts'

/** Memories that are looked at because of their time alone. */
const timelyCandidates = 60

/** The candidates for a query, for `rank`: those of the store, and those from a time that the query names. */
export async function candidatesFor(
  store: Pick<MemoryStore, 'search'>,
  scope: Scope,
  query: MemoryQuery,
  rest: Omit<SearchQuery, 'terms' | 'alike'>,
  work: HeavyWork = {},
): Promise<Found> {
  const asked = { ...rest, ...lookupsOf(query) }
  const found = await statementsFor(store, scope, asked, work)
  if (query.times.length === 0) return found
  const filter: MemoryFilter = { ...rest.filter, ...hullOf(query) }
  const timely = await statementsFor(store, scope, { ...asked, filter, candidates: timelyCandidates }, work)
  const known = new Map<string, Candidate>()
  for (const candidate of [...timely.candidates, ...found.candidates]) known.set(candidate.entry.id, candidate)
  return { ...found, candidates: [...known.values()], isCut: found.isCut === true || timely.isCut === true }
}

/** Memories that are looked at because of a name that links them. */
const linkedCandidates = 16

/** The candidates with those that a memory among them links to the query: one hop, and none where nothing is linked. */
export async function withLinked(
  store: Pick<MemoryStore, 'search'>,
  scope: Scope,
  query: MemoryQuery,
  found: Found,
  rest: Omit<SearchQuery, 'terms' | 'alike' | 'candidates'>,
  work: HeavyWork,
): Promise<{ readonly found: Found; readonly linked: readonly Candidate[] }> {
  const terms = linkedTerms(query, found.candidates)
  if (terms.length === 0) return { found, linked: [] }
  const around = await statementsFor(store, scope, { ...rest, terms, candidates: linkedCandidates }, work)
  const linked = around.candidates.filter((candidate) =>
    terms.some((term) => ` ${candidate.terms} `.includes(` ${term} `)),
  )
  const known = new Map([...found.candidates, ...linked].map((candidate) => [candidate.entry.id, candidate]))
  return { found: { ...found, candidates: [...known.values()] }, linked }
}

/** Candidates that are looked at where questions take the places of statements: so many times as many. */
const wider = 8

/** The candidates without the turns that only asked, which count in no frequency either. */
async function statementsFor(
  store: Pick<MemoryStore, 'search'>,
  scope: Scope,
  query: SearchQuery,
  work: HeavyWork,
): Promise<Found> {
  const found = await store.search(scope, query)
  const stated = await inTurns(withoutQuestions(found, query), work)
  const removed = found.candidates.length - stated.candidates.length
  if (found.candidates.length < query.candidates || removed <= query.candidates / 4) return stated
  const more = await store.search(scope, { ...query, candidates: wider * query.candidates })
  return inTurns(withoutQuestions(more, query), work)
}

/** Characters that are read in the time in which one is that may belong to a question. */
const askedCharacters = 8

function* withoutQuestions(found: Found, { terms }: SearchQuery): Generator<number, Found> {
  const asked: Candidate[] = []
  for (const candidate of found.candidates) {
    if (kindOf(candidate.entry) === 'question') asked.push(candidate)
    yield askedCharacters * Math.min(longestQuestion, candidate.entry.content.length)
  }
  if (asked.length === 0) return found
  const questions = new Set(asked)
  const words = asked.map((candidate) => new Set(candidate.terms.split(' ')))
  return {
    ...found,
    memories: found.memories - asked.length,
    frequencies: found.frequencies.map((frequency, at) =>
      Math.max(0, frequency - words.filter((each) => each.has(terms[at]!)).length),
    ),
    candidates: found.candidates.filter((candidate) => !questions.has(candidate)),
  }
}

/** From the beginning of the first time that the query names to the end of the last. */
function hullOf({ times }: MemoryQuery): Pick<MemoryFilter, 'after' | 'before'> {
  const spans = times.flatMap((time) => time.spans)
  return { after: Math.min(...spans.map(({ from }) => from)), before: Math.max(...spans.map(({ to }) => to)) }
}
