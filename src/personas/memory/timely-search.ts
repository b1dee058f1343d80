import type { Candidate, Found, MemoryFilter, MemoryStore, Scope, SearchQuery } from './memory.ts'
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
  const found = await store.search(scope, asked)
  if (query.times.length === 0) return found
  const filter: MemoryFilter = { ...rest.filter, ...hullOf(query) }
  const timely = await store.search(scope, { ...asked, filter, candidates: timelyCandidates })
  const known = new Map<string, Candidate>()
  for (const candidate of [...timely.candidates, ...found.candidates]) known.set(candidate.entry.id, candidate)
  return { ...found, candidates: [...known.values()] }
}

/** From the beginning of the first time that the query names to the end of the last. */
function hullOf({ times }: MemoryQuery): Pick<MemoryFilter, 'after' | 'before'> {
  const spans = times.flatMap((time) => time.spans)
  return { after: Math.min(...spans.map(({ from }) => from)), before: Math.max(...spans.map(({ to }) => to)) }
}
