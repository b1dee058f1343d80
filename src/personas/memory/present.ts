import { AppError } from '../../errors.ts'
import { type Earlier, isEnded, newsIn } from './closing.ts'
import type { MemoryEntry, MemoryFilter, MemoryStore, Metadata, RetentionPolicy, Scope } from './memory.ts'
import type { Ranked } from './ranking.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { readSlots } from './slots.ts'

/** Earlier memories that are looked at for what a statement ends. */
const earlierCandidates = 60

/** The most memories that are read one by one to follow what ended others. */
const mostFollowed = 12

/**
 * Has a stored statement end the earlier ones that it says are over: they keep the time of their end in `valid_to` and the id of the
 * statement in `ended_by`. Resolves with the ids of those that it ended. An edit that removes `valid_to` undoes it.
 */
export async function endEarlier(
  store: Pick<MemoryStore, 'search' | 'get' | 'edit'>,
  scope: Scope,
  entry: MemoryEntry,
  policy: RetentionPolicy,
): Promise<readonly string[]> {
  const news = newsIn(entry)
  if (!news) return []
  const found = await store.search(scope, { terms: news.terms, candidates: earlierCandidates })
  const earlier = await withSuccessors(
    store,
    scope,
    found.candidates.map((candidate) => candidate.entry),
  )
  const ended = news.ended(earlier)
  for (const { id } of ended) await endMemory(store, scope, id, entry, policy)
  return ended.map(({ id }) => id)
}

/** Ends one memory by a later one; none that is gone or has become another meanwhile. */
export async function endMemory(
  store: Pick<MemoryStore, 'edit'>,
  scope: Scope,
  id: string,
  by: Pick<MemoryEntry, 'id' | 'timestamp'>,
  policy: RetentionPolicy,
): Promise<void> {
  const closing = (before: MemoryEntry) => {
    const { valid_from: from } = before.metadata
    const isFuture = typeof from === 'number' && from > by.timestamp
    if (isFuture || before.timestamp >= by.timestamp || isEnded(before.metadata)) return before
    return { ...before, metadata: { ...before.metadata, valid_to: by.timestamp, ended_by: by.id } }
  }
  try {
    await store.edit(scope, id, closing, policy)
  } catch (reason) {
    if (!(reason instanceof AppError) || reason.code !== 'invalid') throw reason
  }
}

/** The memories, and those that ended some of them, which are of the same slots. */
async function withSuccessors(
  store: Pick<MemoryStore, 'get'>,
  scope: Scope,
  entries: readonly MemoryEntry[],
): Promise<readonly Earlier[]> {
  const all = new Map<string, Earlier>(entries.map((entry) => [entry.id, { entry }]))
  const follow = createFollowing(store, scope, entries)
  for (const entry of entries) {
    if (!isEnded(entry.metadata)) continue
    const last = await follow(entry)
    if (last) all.set(last.id, { entry: last, inherited: readSlots(entry.content).states })
  }
  return [...all.values()]
}

/** Follows what ended memories to what holds now; undefined where that is gone, or too many were followed. */
function createFollowing(store: Pick<MemoryStore, 'get'>, scope: Scope, known: readonly MemoryEntry[]) {
  const byId = new Map(known.map((entry) => [entry.id, entry]))
  let left = mostFollowed
  return async (ended: MemoryEntry): Promise<MemoryEntry | undefined> => {
    let entry: MemoryEntry | undefined = ended
    const seen = new Set<string>()
    while (entry && isEnded(entry.metadata)) {
      const id = entry.metadata['ended_by'] as string
      if (seen.has(id)) return undefined
      seen.add(id)
      if (!byId.has(id)) {
        if (left-- <= 0) return undefined
        const next = await store.get(scope, id)
        if (next) byId.set(id, next)
      }
      entry = byId.get(id)
    }
    return entry
  }
}

/** Ranked memories as they hold now: in the place of an ended one stands what ended it, which may share no word with the query. */
export async function presentOf(
  store: Pick<MemoryStore, 'get'>,
  scope: Scope,
  ranked: readonly Ranked[],
): Promise<readonly Ranked[]> {
  if (!ranked.some(({ candidate }) => isEnded(candidate.entry.metadata))) return ranked
  const byId = new Map(ranked.map((each) => [each.candidate.entry.id, each]))
  const follow = createFollowing(
    store,
    scope,
    ranked.map(({ candidate }) => candidate.entry),
  )
  const present = new Map<string, Ranked>()
  const add = (each: Ranked) => {
    const { id } = each.candidate.entry
    if (!present.has(id)) present.set(id, each)
  }
  for (const each of ranked) {
    const { entry } = each.candidate
    const last = isEnded(entry.metadata) ? await follow(entry) : undefined
    if (!last) add(each)
    else add({ ...(byId.get(last.id) ?? asCandidate(last, each)), score: each.score, supersedes: entry.id })
  }
  return [...present.values()]
}

function asCandidate(entry: MemoryEntry, { parts, score }: Ranked): Ranked {
  return { candidate: { entry, terms: '', about: '', context: '' }, score, parts }
}

/** The most times of a memory that was said again and again, the newest ones. */
const mostTimes = 20

/**
 * The labels of a memory that is said again: those of both, and all its times. What was said again after its end holds once more.
 * The same memory at the same time, as a package that is merged twice brings it, changes nothing.
 */
export function labelsSaidAgain(
  known: Pick<MemoryEntry, 'timestamp' | 'metadata'>,
  again: Pick<MemoryEntry, 'timestamp' | 'metadata'>,
): Metadata {
  const { times: _times, ...merged } = { ...known.metadata, ...again.metadata }
  const times = [...new Set([...timesOf(known), ...timesOf(again)])].sort((a, b) => a - b).slice(-mostTimes)
  const labels: Metadata = times.length > 1 ? { ...merged, times } : merged
  if (!isEnded(known.metadata) || isEnded(again.metadata)) return labels
  if (again.timestamp <= (known.metadata['valid_to'] as number)) return labels
  const { valid_to: _to, ended_by: _by, ...open } = labels
  return open
}

function timesOf({ timestamp, metadata }: Pick<MemoryEntry, 'timestamp' | 'metadata'>): readonly number[] {
  const { times } = metadata
  return Array.isArray(times) ? [...times.filter((time) => typeof time === 'number'), timestamp] : [timestamp]
}

/** Whether two texts say the same in the same words, whatever their case, spaces and final marks. */
export function isSaidAlike(one: string, other: string): boolean {
  return bare(one) === bare(other)
}

function bare(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .replace(/(?<![\s.!。！])[\s.!。！]+$/u, '')
    .trim()
}

/** Whether a memory holds at a time, by its own labels. */
export function holdsAt({ valid_from: from, valid_to: to }: Metadata, time: number): boolean {
  return !(typeof from === 'number' && from > time) && !(typeof to === 'number' && to <= time)
}

/** The filter of a search in the past: what was said up to a time. */
export function saidBy(time: number, filter: MemoryFilter = {}): MemoryFilter {
  return { ...filter, before: Math.min(filter.before ?? Number.MAX_SAFE_INTEGER, time + 1) }
}

/** Words that ask for what held before, in 15 languages. */
const then =
  /(?<!\p{L})(?:before|previous(?:ly)?|former(?:ly)?|earlier|used to|back then|in the past|originally|at first|ex|early on|until when|früher\p{L}*|vorher|damals|ehemal\p{L}*|zuvor|ursprünglich|avant|auparavant|autrefois|ancien\p{L}*|précédent\p{L}*|antes|anterior\p{L}*|antigu\p{L}*|prima|precedente|una volta|anteriormente|antig\p{L}*|vroeger|eerder|voorheen|vorige|wcześniej|dawniej|poprzedni\p{L}*|kiedyś|eskiden|önceden|önceki|раньше|прежде|прежн\p{L}*|раніше|колишн\p{L}*|попередн\p{L}*|سابقا|قبل|السابق\p{L}*|पहले|पुरान\p{L}*)(?!\p{L})|以前|前は|昔|之前|从前|原来|过去/iu

/** Whether a query asks for what held at another time than now. */
export function asksOfThen({ text, times }: Pick<MemoryQuery, 'text' | 'times'>, now: number): boolean {
  return then.test(text) || (times.length > 0 && times.every(({ spans }) => spans.every(({ to }) => to <= now)))
}
