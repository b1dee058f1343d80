import type { Candidate, Found, MemoryFilter, MemoryStore, Scope, SearchQuery } from './memory.ts'
import { isAsked } from './questions.ts'
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
): Promise<Found> {
  const asked = { ...rest, ...lookupsOf(query) }
  const found = await statementsFor(store, scope, asked)
  if (query.times.length === 0) return found
  const filter: MemoryFilter = { ...rest.filter, ...hullOf(query) }
  const timely = await statementsFor(store, scope, { ...asked, filter, candidates: timelyCandidates })
  const known = new Map<string, Candidate>()
  for (const candidate of [...timely.candidates, ...found.candidates]) known.set(candidate.entry.id, candidate)
  return { ...found, candidates: [...known.values()] }
}

/** Candidates that are looked at where questions take the places of statements: so many times as many. */
const wider = 8

/** The candidates without the turns that only asked, which count in no frequency either. */
async function statementsFor(store: Pick<MemoryStore, 'search'>, scope: Scope, query: SearchQuery): Promise<Found> {
  const found = await store.search(scope, query)
  const stated = withoutQuestions(found, query)
  const removed = found.candidates.length - stated.candidates.length
  if (found.candidates.length < query.candidates || removed <= query.candidates / 4) return stated
  return withoutQuestions(await store.search(scope, { ...query, candidates: wider * query.candidates }), query)
}

function withoutQuestions(found: Found, { terms }: SearchQuery): Found {
  const asked = found.candidates.filter(({ entry }) => isAsked(entry))
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
