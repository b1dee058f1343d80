import { atOnce } from '../../process/process.ts'
import { isAnswer } from './kinds.ts'
import { type Candidate, conversationOf, type Found, type Parts } from './memory.ts'
import { calibration, coefficients, logOdds, oddsOf, probability, sizePrior } from './ranking-calibration.ts'
import { supersede } from './ranking-changes.ts'
import { type LexicalEvidence, lexicalSteps, type Weights, weights } from './ranking-lexical.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { nearnessInTime } from './time-words.ts'

export interface Ranked {
  readonly candidate: Candidate
  /** The estimated probability that the memory answers the query, from 0 to 1. */
  readonly score: number
  readonly parts: Parts
  /** The id of an older memory about the same thing that this one supersedes. */
  readonly supersedes?: string
}

export interface VectorTrust {
  /** See `Embedder.trust`. */
  readonly trust: number
  /** Whether the model knows the query's language. */
  readonly knowsLanguage: boolean
}

export interface RankOptions {
  /** Its terms in the order in which the store counted their frequencies. */
  readonly query: MemoryQuery
  /** Undefined leaves vectors out. */
  readonly vectors: VectorTrust | undefined
  /** Milliseconds since 1970 UTC. */
  readonly now: number
  /** True once the time of the search is over: candidates behind are not read, and the ranking is cut. */
  readonly isOver?: () => boolean
  /** Other weights and coefficients than the product's, for measurements. */
  readonly weights?: Weights
  readonly coefficients?: readonly number[]
}

/**
 * Ranks the candidates of a store, best first. Memories that match by neither term nor vector nor time are left out. Pure, and the
 * same for every store.
 *
 * The score is a probability in two steps. The best evidence of any memory's own words says whether the query is answered at
 * all: an absolute measure, which a stranger's question does not reach. The match, which context, vectors and priors shape,
 * shares it out: a memory loses odds for each factor by which it matches less than the best one.
 */
export function rank(found: Found, options: RankOptions): readonly Ranked[] {
  return atOnce(rankingSteps(found, options)).ranked
}

/** A ranking, and whether it left candidates out. */
export interface Ranking {
  readonly ranked: readonly Ranked[]
  readonly isCut: boolean
}

/** The same in steps, for `inTurns`: yields the characters that each has read. */
export function* rankingSteps(all: Found, options: RankOptions): Generator<number, Ranking> {
  const { query, vectors, now } = options
  const evidence = yield* lexicalSteps(all, query, options.weights ?? weights, options.isOver)
  const isCut = evidence.length < all.candidates.length
  const found = isCut ? { ...all, candidates: all.candidates.slice(0, evidence.length) } : all
  const coverage = evidence.reduce((most, each) => Math.max(most, each.match > 0 ? each.coverage : -1), -1)
  const meaning = meaningOf(found, coverage, vectors)
  const matched: Matched[] = []
  for (const [at, candidate] of found.candidates.entries()) {
    const own = evidence[at]!
    const lexical = own.match
    const vector = meaning.matches[at]!
    const time = query.times.length === 0 ? undefined : nearnessInTime(candidate.entry, query.times)
    if (time !== undefined) yield timeCharacters
    if (lexical + vector + (time ?? 0) === 0) continue
    const recency = recencyOf(candidate.entry.timestamp, now)
    const importance = 1 + priors.importance * (2 * candidate.entry.importance_score - 1)
    const general = query.isGeneral && !own.isPersonal ? calibration.general : 0
    const odds = logOdds(own, options.coefficients ?? coefficients) + timeWeight.odds * (time ?? 0) - general
    const said = (lexical + vector) * (1 + timeWeight.match * (time ?? 0))
    const timely = query.isOnlyTime ? (time ?? 0) + timeWeight.asides * said : said + timeWeight.alone * (time ?? 0)
    const match = timely * recency * importance
    if (match > 0) matched.push({ candidate, evidence: own, lexical, vector, recency, importance, time, match, odds })
  }
  matched.sort((a, b) => b.match - a.match || b.candidate.entry.timestamp - a.candidate.entry.timestamp)
  const { unmatched } = calibration
  const unsaid = oddsOf(query.isPersonal ? unmatched.personal : unmatched.other)
  const least = query.isGeneral ? unsaid : Math.max(unsaid, meaning.odds)
  const scoresOf = (group: readonly Matched[]) => scored(group, least, query, sizePrior(found.memories))
  const { within, outside } = narrowed(matched, query, now)
  const words = within.filter(({ candidate }) => !isAnswer(candidate.entry.metadata))
  const inTime = words.length === within.length ? scoresOf(within) : behindWords(scoresOf(words), scoresOf(within))
  const others = scoresOf(outside).map((each) => ({ ...each, score: timeWeight.outside * each.score }))
  const most = Math.max(inTime[0]?.score ?? 0, others[0]?.score ?? 0)
  // What changed after the time that is asked for does not take its place.
  const ofThen = yield* inOrder(inTime, query, most)
  const ofOthers = others.length === 0 ? [] : yield* inOrder(others, query, most)
  const ranked = ofOthers.length === 0 ? ofThen : [...ofThen, ...ofOthers].sort((a, b) => b.score - a.score)
  return { ranked, isCut }
}

/** Characters that are read in the time in which the times that a memory names are. */
const timeCharacters = 2_000

/** The least share of the best match by words outside of the named times that one from within needs, for these to narrow. */
const leastWithin = 0.5

/**
 * The memories from the times that the query names, and the others. Past times narrow where something from then answers its words about
 * as well, or where it asks what the user did "last month". Others count as before: "on Sundays" and "this year" may mean any.
 */
function narrowed(matched: readonly Matched[], query: MemoryQuery, now: number) {
  const all = { within: matched, outside: [] }
  if (query.isOnlyTime || !query.times.every(({ spans }) => spans.every(({ to }) => to <= now))) return all
  const within = matched.filter(({ time }) => time === 1)
  const outside = matched.filter(({ time }) => time !== 1)
  const best = (group: readonly Matched[]) => group.reduce((most, { lexical }) => Math.max(most, lexical), 0)
  const isAnswered = best(within) > 0 && best(within) >= leastWithin * best(outside)
  const isMeant = query.isPersonal && query.times.every(({ isRelative }) => isRelative)
  return within.length > 0 && (isAnswered || isMeant) ? { within, outside } : all
}

interface Scored {
  readonly matched: Matched
  readonly score: number
}

/** Scores of memories against the best of them, which go down along the list. @param group by match, the best one first */
function scored(group: readonly Matched[], least: number, query: MemoryQuery, prior: number): readonly Scored[] {
  const [best] = group
  if (!best) return []
  const own = group.filter(({ lexical }) => lexical > 0).map(({ odds }) => odds + prior)
  const most = Math.max(least, ...own, oddsByTime(query, group))
  let above = 1
  return group
    .map((each) => lossOf(each, best, most - prior))
    .sort((a, b) => a.byMatch - b.byMatch || b.matched.match - a.matched.match)
    .map(({ matched, byMatch, byEvidence }) => {
      above = Math.min(above, probability(most - Math.min(byMatch, byEvidence)))
      return { matched, score: above }
    })
}

/** The user's words that an answer is compared with, and the share of its matched terms that they have on the same subject. */
const comparedWords = 24
const leastSubject = 0.5

/**
 * Puts the persona's answers among the user's words, which are scored as if there were none: each answer behind the words on
 * the same subject, however well it repeats the question.
 */
function behindWords(words: readonly Scored[], all: readonly Scored[]): readonly Scored[] {
  const front = words.slice(0, comparedWords)
  const answers = all
    .filter(({ matched }) => isAnswer(matched.candidate.entry.metadata))
    .map(({ matched, score }) => {
      const behind = front.findLast((word) => isSameSubject(word.matched.evidence, matched.evidence))
      return { matched, score: Math.min(score, behind?.score ?? 1) }
    })
  return [...words, ...answers].sort((a, b) => b.score - a.score)
}

/** Whether the user's words have enough of the query's terms that an answer has. */
function isSameSubject(words: LexicalEvidence, { likeness }: LexicalEvidence): boolean {
  const asked = likeness.flatMap((alike, at) => (alike > 0 ? [at] : []))
  const both = asked.filter((at) => words.likeness[at]! > 0).length
  return both > 0 && both >= leastSubject * asked.length
}

interface Matched {
  readonly candidate: Candidate
  readonly evidence: LexicalEvidence
  readonly lexical: number
  readonly vector: number
  readonly recency: number
  readonly importance: number
  readonly time: number | undefined
  readonly match: number
  readonly odds: number
}

/** The part of times that a query names. Soft: a memory from within gains, others lose nothing by themselves. */
const timeWeight = {
  /** The share by which the match of a memory from within grows. */
  match: 0.3,
  /** The log-odds that its own words gain. */
  odds: 1,
  /** The match of a memory from within that nothing else speaks for. */
  alone: 0.01,
  /** The share of other matches where the query names nothing but a time. */
  asides: 0.05,
  /** The probability of such a memory where the query names nothing but a time, and speaks of the user or not. */
  personal: 0.3,
  other: 0.1,
  /** The share of its score that a memory keeps from outside of the times that narrow. */
  outside: 0.3,
} as const

function oddsByTime({ isOnlyTime, isPersonal, times }: MemoryQuery, matched: readonly Matched[]): number {
  if (times.length === 0 || !matched.some(({ time }) => time === 1)) return Number.NEGATIVE_INFINITY
  // Beside other words a time counts where it has narrowed, which leaves nothing from other times.
  if (!isOnlyTime && matched.some(({ time }) => time !== 1)) return Number.NEGATIVE_INFINITY
  return oddsOf(isPersonal || !isOnlyTime ? timeWeight.personal : timeWeight.other)
}

/**
 * The log-odds that a memory loses against the best one: by its match, which gives the order; and by its own evidence,
 * since a memory with words that say as much as the best one's loses little by its form. The smaller loss counts.
 */
function lossOf(matched: Matched, best: Matched, mostOdds: number) {
  const { candidate, match, odds } = matched
  const name = conversationOf(candidate.entry.metadata)
  const isTogether = name !== '' && name === conversationOf(best.candidate.entry.metadata)
  const { behind, behindInConversation, own, ownMost, form, lack: perLack } = calibration
  const distance = -Math.log(Math.max(1e-3, match / best.match))
  const lack = Math.max(0, mostOdds - odds)
  return {
    matched,
    byMatch: (isTogether ? behindInConversation : behind) * distance + own * Math.min(ownMost, lack),
    byEvidence: form * distance + perLack * lack,
  }
}

/**
 * Moves newer statements before the older ones that they supersede; scores stay in descending order. An older one that matches
 * more of the query keeps its own: the newer one may be about something else, and both stand in a prompt with their times.
 */
function* inOrder(
  ordered: readonly Scored[],
  query: MemoryQuery,
  evidence: number,
): Generator<number, readonly Ranked[]> {
  const ranked = ordered.map(({ matched }) => matched)
  const scores = ordered.map(({ score }) => score)
  const { order, superseded } = yield* supersede(
    ranked.slice(0, 24).map(({ candidate, evidence, match }) => {
      const { content, timestamp } = candidate.entry
      const isOwn = isAnswer(candidate.entry.metadata)
      return { content, isAnswer: isOwn, timestamp, terms: candidate.terms, evidence, match }
    }),
    query,
  )
  const kept = [...scores]
  for (const [newer, older] of superseded)
    if (lacksTerm(ranked[newer]!.evidence, ranked[older]!.evidence)) kept[order.indexOf(older)] = scores[older]!
  for (let at = order.length - 2; at >= 0; at--) kept[at] = Math.max(kept[at]!, kept[at + 1]!)
  return kept.map((score, at): Ranked => {
    const place = order[at] ?? at
    const { candidate, lexical, vector, recency, importance, time, evidence: own } = ranked[place]!
    const older = superseded.get(place)
    const always = { lexical, vector, recency, importance, coverage: own.coverage, evidence }
    const parts = time === undefined ? always : { ...always, time }
    if (older === undefined) return { candidate, score, parts }
    return { candidate, score, parts, supersedes: ranked[older]!.candidate.entry.id }
  })
}

/** Whether the older statement has a term of the query that the newer one lacks. */
function lacksTerm({ likeness }: LexicalEvidence, older: LexicalEvidence): boolean {
  return older.likeness.some((alike, at) => alike > 0 && likeness[at] === 0)
}

/**
 * Priors as factors near 1: tie-breaks between memories that match equally well, which cannot lift one that does not match.
 * A sum, as in "Generative Agents" (Park et al., 2023), would let a recent and important but irrelevant memory win.
 */
const priors = {
  /** A memory of importance 1 counts this much more than one of 0.5, and one of 0 less. */
  importance: 0.03,
  /** The recency of a very old memory. */
  oldest: 0.98,
  /** Milliseconds after which half of the difference is gone: 30 days. */
  halfLife: 30 * 86_400_000,
} as const

function recencyOf(timestamp: number, now: number): number {
  const age = Math.max(0, now - timestamp)
  return priors.oldest + (1 - priors.oldest) * 0.5 ** (age / priors.halfLife)
}

/**
 * The weight of the cosine beside the match by words: of static word vectors, of a fully trusted model, and added where
 * words find little: from a best coverage of `little` down to `nothing`, a match by words is rather a chance.
 */
const vectorWeight = { least: 0.2, trusted: 0.7, unmatched: 0.5, little: 0.5, nothing: 0.25 } as const

/**
 * Where a trusted model places one memory far from all others, that is evidence too: so many robust standard deviations
 * above the median cosine count as even odds, each further one adds `slope`. Chosen cautiously and not fitted: static word
 * vectors, which could be measured, cannot tell an answer from a chance (AUC 0.5), and add none.
 */
const meaningEvidence = { deviations: 5, slope: 0.8, mostOdds: 1, leastTrust: 0.5, fewest: 20 } as const

/**
 * @param coverage the best coverage by a memory's own words, negative where no word matches: where one does, vectors count
 * in the languages only that their model knows
 */
function meaningOf({ candidates }: Found, coverage: number, vectors: VectorTrust | undefined) {
  const known: number[] = []
  for (const { cosine } of candidates) if (cosine !== undefined) known.push(cosine)
  const cosines = new Float64Array(known).sort()
  if (!vectors || (coverage >= 0 && !vectors.knowsLanguage) || cosines.length === 0)
    return { matches: candidates.map(() => 0), odds: Number.NEGATIVE_INFINITY }
  const { least, trusted, unmatched, little, nothing } = vectorWeight
  const lost = Math.min(1, Math.max(0, (little - coverage) / (little - nothing)))
  const weight = least + (trusted - least) * vectors.trust + unmatched * lost
  const middle = middleOf(cosines)
  return {
    matches: candidates.map(({ cosine }) => (cosine === undefined ? 0 : weight * nearness(cosine, middle))),
    /** The log-odds that the nearest one answers. */
    odds:
      vectors.knowsLanguage && vectors.trust >= meaningEvidence.leastTrust
        ? oddsByDistance(cosines)
        : Number.NEGATIVE_INFINITY,
  }
}

/**
 * How near a vector is, from 0 to 1, above the median of the candidates, since the range of cosines differs by space. A trace
 * of the plain cosine keeps the farther half in order too.
 */
function nearness(cosine: number, middle: number): number {
  return 0.95 * Math.max(0, (cosine - middle) / Math.max(1e-6, 1 - middle)) + 0.05 * Math.max(0, cosine)
}

/** The lower median. @param sorted in ascending order */
function middleOf(sorted: Float64Array): number {
  return sorted[(sorted.length - 1) >> 1]!
}

function oddsByDistance(cosines: Float64Array): number {
  if (cosines.length < meaningEvidence.fewest) return Number.NEGATIVE_INFINITY
  const middle = middleOf(cosines)
  const deviations = cosines.map((cosine) => Math.abs(cosine - middle)).sort()
  // The median absolute deviation of a normal distribution is 0.6745 of its standard deviation.
  const spread = Math.max(1e-6, deviations[deviations.length >> 1]! / 0.6745)
  const distance = (cosines.at(-1)! - middle) / spread
  return Math.min(meaningEvidence.mostOdds, meaningEvidence.slope * (distance - meaningEvidence.deviations))
}
