import { type Candidate, conversationOf, type Found } from './memory.ts'
import { isQuestion } from './ranking-index.ts'

/** What a memory's score is made of: `score = (lexical + vector) · recency · importance`. */
export interface Parts {
  /** How much of the question's words it answers; 1 is about all of them in its own text. */
  readonly lexical: number
  /** How near it is in meaning, weighed by how far the vectors' space can be trusted. */
  readonly vector: number
  /** Between `priors.oldest` and 1. */
  readonly recency: number
  /** Between 1 and `1 + priors.importance`. */
  readonly importance: number
}

export interface Ranked {
  readonly candidate: Candidate
  readonly score: number
  readonly parts: Parts
}

interface Fusion {
  /** What a lexical score is multiplied with. */
  readonly lexical: number
  /** What each candidate's nearness adds. */
  readonly vector: readonly number[]
}

export interface RankOptions {
  /** As it was asked. */
  readonly query: string
  /** The query's terms in the order in which the store counted their frequencies. */
  readonly terms: readonly string[]
  /** How far the space of the vectors can be trusted, see `Embedder.trust`; 0 leaves them out. */
  readonly trust: number
  /** Milliseconds since 1970 UTC. */
  readonly now: number
}

/**
 * Orders what a store found, best first. Memories that neither a term nor a vector speaks for are left out.
 * Pure, and the same for every store.
 */
export function rank(found: Found, options: RankOptions): readonly Ranked[] {
  const lexical = scoreTerms(found, options)
  const fusion = fuse(found.candidates, lexical, options.trust)
  return found.candidates
    .map((candidate, at): Ranked => {
      const parts = {
        lexical: lexical[at]! * fusion.lexical,
        vector: fusion.vector[at]!,
        recency: recencyOf(candidate.entry.timestamp, options.now),
        importance: 1 + priors.importance * candidate.entry.importance_score,
      }
      return { candidate, parts, score: (parts.lexical + parts.vector) * parts.recency * parts.importance }
    })
    .filter(({ parts }) => parts.lexical + parts.vector > 0)
    .sort((a, b) => b.score - a.score || b.candidate.entry.timestamp - a.candidate.entry.timestamp)
}

/**
 * How telling a term is that stands in `frequency` of a scope's memories: the idf of BM25 in its form that is never
 * negative (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). FTS5's own bm25()
 * counts over all scopes: other users' memories would shape the order, and its cost would grow with theirs.
 */
export function inverseFrequency(memories: number, frequency: number): number {
  return Math.log(1 + (memories - frequency + 0.5) / (frequency + 0.5))
}

/**
 * Gentle priors, factors near 1: they decide between memories that answer equally well and cannot lift one that does not
 * answer. A sum, as in "Generative Agents" (Park et al., 2023), would let a fresh and important but beside-the-point memory win.
 */
export const priors = {
  /** A memory of importance 1 counts this much more than one of importance 0. */
  importance: 0.1,
  /** What a very old memory still counts. */
  oldest: 0.95,
  /** Milliseconds after which half of the difference is gone: 30 days. */
  halfLife: 30 * 86_400_000,
} as const

function recencyOf(timestamp: number, now: number): number {
  const age = Math.max(0, now - timestamp)
  return priors.oldest + (1 - priors.oldest) * 0.5 ** (age / priors.halfLife)
}

/**
 * The weights of the lexical score. k1 and b are BM25's; low values, since a memory is a sentence or two. The rest was
 * fitted on long conversations between two people, each measured with what was fitted on the others (`npm run bench --
 * locomo`), and rounded: the optimum is flat.
 */
export const weights = {
  k1: 0.6,
  b: 0.4,
  /** The term is the speaker's name or part of the date. */
  about: 0.5,
  /** The term stands one, two, three memories before or after. */
  before: [0.45, 0.35, 0.12],
  after: [0.45, 0.35, 0.12],
  /** Added when the memory before it is a question: this one is likely its answer. */
  asked: 0.3,
  /** The term stands somewhere in the same conversation. */
  conversation: 0.13,
  /** What remains of a term's further credit once something nearer has had it. */
  rest: 0.5,
  /** Taken off when the memory only asks. */
  question: 0.12,
  /** Added when the query asks for a time and the memory tells one. */
  time: 0.15,
  /** Added for each doubling of length: longer memories say more. */
  length: 0.08,
} as const

function scoreTerms(found: Found, { query, terms }: RankOptions): number[] {
  const telling = terms.map((_, at) => inverseFrequency(found.memories, found.frequencies[at] ?? 0))
  const total = telling.reduce((sum, each) => sum + each, 0)
  if (total === 0) return found.candidates.map(() => 0)
  const asked = askedFor(terms)
  const matches = found.candidates.map((candidate) => matchesOf(candidate, asked, found.meanLength))
  const talks = conversationTerms(found.candidates, matches)
  const asksTime = timeQuestion.test(query)
  return found.candidates.map((candidate, index) => {
    const talk = talks.get(conversationOf(candidate.entry.metadata))
    const score = telling.reduce((sum, worth, at) => sum + worth * creditOf(matches[index]!, at, talk), 0)
    return (score / total) * manner(candidate, asksTime)
  })
}

/** How strongly each asked term stands in a memory and around it: saturated term frequencies from 0 to 1. */
interface Matches {
  readonly own: readonly number[]
  readonly about: readonly boolean[]
  /** The neighbours with any of the terms. */
  readonly around: readonly { readonly distance: number; readonly question: boolean; readonly own: readonly number[] }[]
}

function matchesOf({ terms, about, around }: Candidate, asked: Asked, meanLength: number): Matches {
  return {
    own: saturated(terms, asked, meanLength) ?? nothing(asked.size),
    about: (counts(about, asked) ?? nothing(asked.size)).map((count) => count > 0),
    around: around.flatMap(({ distance, question, terms: others }) => {
      const own = saturated(others, asked, meanLength)
      return own ? [{ distance, question, own }] : []
    }),
  }
}

/** How a query's terms are found in texts of terms: by one expression, which is far quicker than parting the texts. */
interface Asked {
  readonly size: number
  readonly pattern: RegExp
  readonly places: ReadonlyMap<string, number>
}

/** Terms hold letters, marks and digits only, so none of them means anything to a regular expression. */
function askedFor(terms: readonly string[]): Asked {
  return {
    size: terms.length,
    pattern: new RegExp(`(?<![^ ])(?:${terms.join('|')})(?![^ ])`, 'gu'),
    places: new Map(terms.map((term, at) => [term, at])),
  }
}

/** How often each term stands in a text; undefined when none does. */
function counts(text: string, { pattern, places, size }: Asked): number[] | undefined {
  const found = text.match(pattern)
  if (!found) return undefined
  const result = nothing(size)
  for (const term of found) result[places.get(term)!]!++
  return result
}

/** BM25's tf / (k1 + tf) with the frequency divided by the relative length; undefined when no term stands there. */
function saturated(text: string, asked: Asked, meanLength: number): number[] | undefined {
  const length = 1 - weights.b + (weights.b * text.length) / Math.max(1, meanLength)
  return counts(text, asked)?.map((count) => count / length / (weights.k1 + count / length))
}

function nothing(size: number): number[] {
  return new Array<number>(size).fill(0)
}

/** What a memory earns for one term: in full for its own text, less for what stands around it, ever less for more of it. */
function creditOf(matches: Matches, at: number, talk: readonly boolean[] | undefined): number {
  let credit = matches.own[at]! + (matches.about[at] ? weights.about : 0)
  let left = matches.own[at]! > 0 ? weights.rest : 1
  for (let step = 1; step <= weights.before.length; step++) {
    let gained = 0
    for (const { distance, question, own } of matches.around) {
      if (Math.abs(distance) !== step || own[at] === 0) continue
      const weight = (distance < 0 ? weights.before : weights.after)[step - 1]!
      gained += own[at]! * (weight + (distance === -1 && question ? weights.asked : 0))
    }
    credit += gained * left
    if (gained > 0) left *= weights.rest
  }
  return credit + (talk?.[at] ? weights.conversation : 0)
}

/** Which terms the candidates of a conversation hold together; memories of no named conversation have none. */
function conversationTerms(
  candidates: readonly Candidate[],
  matches: readonly Matches[],
): ReadonlyMap<string, readonly boolean[]> {
  const talks = new Map<string, boolean[]>()
  candidates.forEach(({ entry }, index) => {
    const name = conversationOf(entry.metadata)
    if (name === '') return
    const talk = talks.get(name) ?? []
    talks.set(name, talk)
    matches[index]!.own.forEach((share, at) => {
      if (share > 0) talk[at] = true
    })
  })
  return talks
}

const timeQuestion =
  /^\s*(?:when|since when|how long|how often|(?:in |on |at )?(?:what|which) (?:day|date|week|month|year|time))\b/i

/** Words that place something in time. */
const times =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|weeks?|weekend|months?|years?|morning|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|\d{4})\b|\bMay\b/i

/** What a memory's form adds to or takes from what it says. */
function manner({ entry, terms }: Candidate, asksTime: boolean): number {
  const question = isQuestion(entry.content) ? 1 - weights.question : 1
  const time = asksTime && times.test(entry.content) ? 1 + weights.time : 1
  return question * time * (1 + weights.length * Math.log2(1 + terms.length / 5))
}

/** A question whose best match by words scores less than the one is not answered by words, more than the other it is. */
const unanswered = 0.3
const answered = 0.4

/**
 * How much of a score the words and the meaning each make. Cosines are stretched over a query's candidates, since spaces
 * differ in what they call near: the nearest counts in full, one no nearer than most counts nothing. (Bruch, Gai and Ingber,
 * "An Analysis of Fusion Functions for Hybrid Retrieval", 2023, find such a sum of normalised scores better than a sum of
 * reciprocal ranks, which the words' clear winner enters like any other.)
 */
function fuse(candidates: readonly Candidate[], lexical: readonly number[], trust: number): Fusion {
  const cosines = candidates.flatMap(({ cosine }) => cosine ?? []).sort((a, b) => b - a)
  const [nearest] = cosines
  if (trust === 0 || nearest === undefined) return { lexical: 1, vector: candidates.map(() => 0) }
  const middle = cosines[cosines.length >> 1]!
  const span = Math.max(nearest - middle, 1e-6)
  const best = Math.max(0, ...lexical)
  // The better the words answer, the less meaning has to add; where they hardly do, a chance match must not win.
  const lost = Math.min(1, Math.max(0, (answered - best) / (answered - unanswered)))
  const weight = lost + (1 - lost) * trust * Math.max(0, 1 - best)
  // A trace of the plain cosine keeps the farther half in order too: among few memories it is worth showing.
  const nearness = (cosine: number) =>
    0.95 * Math.max(0, (cosine - middle) / span) + 0.05 * Math.max(0, cosine / Math.max(nearest, 1e-6))
  return {
    lexical: 1 - 0.9 * lost,
    vector: candidates.map(({ cosine }) => (cosine === undefined ? 0 : weight * nearness(cosine))),
  }
}
