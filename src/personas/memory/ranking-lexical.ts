import { type Candidate, conversationOf, type Found } from './memory.ts'
import { isQuestion, readMark } from './ranking-index.ts'

/** The weights of the lexical score. */
export interface Weights {
  /** BM25's saturation: the lower, the less a repeated word adds. */
  readonly k1: number
  /** BM25's share of length. */
  readonly b: number
  /** The term is the speaker's name or part of the date. */
  readonly about: number
  /** The term stands one, two, three memories before or after. */
  readonly near: readonly [number, number, number]
  /** The share of that between memories of no named conversation, which may be adjacent by chance. */
  readonly unnamed: number
  /** Added when the memory before is a question: this one is likely its answer. */
  readonly asked: number
  /** The term stands somewhere in the same conversation. */
  readonly conversation: number
  /** The share of a term's credit that remains after a nearer match. */
  readonly rest: number
  /** Subtracted when the memory is a question. */
  readonly question: number
  /** Added when the query asks for a time and the memory contains one. */
  readonly time: number
  /** Added for each doubling of length. */
  readonly length: number
}

/**
 * The product's weights: fitted on long conversations between two people and rounded. `npm run bench -- locomo` measures
 * each conversation with weights that were fitted on the others, too; the optimum is flat.
 */
export const weights: Weights = {
  k1: 0.6,
  b: 0.4,
  about: 0.5,
  near: [0.45, 0.35, 0.12],
  unnamed: 0.4,
  asked: 0.3,
  conversation: 0.13,
  rest: 0.5,
  question: 0.12,
  time: 0.15,
  length: 0.08,
}

/**
 * The inverse document frequency of a term in `frequency` of a scope's memories: BM25's in its form that is never negative
 * (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). FTS5's own bm25() counts over
 * all scopes: other users' memories would shape the order, and its cost would grow with theirs.
 */
export function inverseFrequency(memories: number, frequency: number): number {
  return Math.log(1 + (memories - frequency + 0.5) / (frequency + 0.5))
}

/**
 * The lexical score of each candidate: about 1 for a memory that contains all terms, more where its context contains them
 * too, 0 for none. BM25's saturated frequencies, weighted by inverse document frequency, over several fields (Robertson,
 * Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), divided by the score of the whole query.
 * @param terms in the order in which the store counted their frequencies
 */
export function scoreTerms(found: Found, query: string, terms: readonly string[], chosen: Weights): number[] {
  const telling = terms.map((_, at) => inverseFrequency(found.memories, found.frequencies[at] ?? 0))
  const total = telling.reduce((sum, each) => sum + each, 0)
  if (total === 0) return found.candidates.map(() => 0)
  const asked = askedFor(terms)
  const matches = found.candidates.map((candidate) => matchesOf(candidate, asked, found.meanLength, chosen))
  const talks = conversationTerms(found.candidates, matches)
  const asksTime = timeQuestion.test(query)
  // A term that occurs once scores 1 / (1 + k1): scores of other weights are brought to the scale of the product's.
  const scale = (1 + chosen.k1) / (1 + weights.k1)
  return found.candidates.map((candidate, index) => {
    const name = conversationOf(candidate.entry.metadata)
    const credits = creditsOf(matches[index]!, talks.get(name), name === '' ? chosen.unnamed : 1, chosen)
    const score = telling.reduce((sum, worth, at) => sum + worth * credits[at]!, 0)
    return (score / total) * scale * manner(candidate, asksTime, chosen)
  })
}

/** The matches of each query term in a memory and in its context. */
interface Matches {
  /** Saturated frequencies, from 0 to 1. */
  readonly own: readonly number[]
  /** Frequencies. */
  readonly about: readonly number[]
  /** Credit by neighbours one, two, three steps away, by step. */
  readonly near: readonly (readonly number[])[]
}

function matchesOf({ terms, about, context }: Candidate, asked: Asked, meanLength: number, chosen: Weights): Matches {
  const near = chosen.near.map(() => nothing(asked.size))
  eachLine(context, asked, (counts, start, end) => {
    const terms = context.indexOf(' ', start) + 1
    const { distance, question } = readMark(context.slice(start, terms - 1))
    const step = Math.abs(distance) - 1
    const worth = (chosen.near[step] ?? 0) + (distance === -1 && question ? chosen.asked : 0)
    saturate(counts, end - terms, meanLength, chosen)
    counts.forEach((share, at) => {
      if (share > 0 && near[step]) near[step][at]! += share * worth
    })
  })
  const own = countsIn(terms, asked)
  saturate(own, terms.length, meanLength, chosen)
  return { own, about: countsIn(about, asked), near }
}

/** A query's terms as one regular expression, which is far faster than splitting the texts. */
interface Asked {
  readonly size: number
  readonly pattern: RegExp
  readonly places: ReadonlyMap<string, number>
}

/** Terms hold letters, marks and digits only, so they need no escaping. */
function askedFor(terms: readonly string[]): Asked {
  return {
    size: terms.length,
    pattern: new RegExp(`(?<![^ ])(?:${terms.join('|')})(?![^ \\n])`, 'g'),
    places: new Map(terms.map((term, at) => [term, at])),
  }
}

/** The frequency of each term in a text of one line. */
function countsIn(text: string, asked: Asked): number[] {
  let found: number[] | undefined
  eachLine(text, asked, (counts) => {
    found = counts
  })
  return found ?? nothing(asked.size)
}

/** Calls `take` for each line with a match: the frequency of each term, and the line's start and end. */
function eachLine(
  text: string,
  { pattern, places, size }: Asked,
  take: (counts: number[], start: number, end: number) => void,
): void {
  let counts: number[] | undefined
  let start = 0
  let end = -1
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match[0] === '') {
      // An empty match does not advance by itself.
      pattern.lastIndex++
      continue
    }
    if (match.index > end) {
      if (counts) take(counts, start, end)
      start = text.lastIndexOf('\n', match.index) + 1
      end = text.indexOf('\n', match.index)
      if (end < 0) end = text.length
      counts = nothing(size)
    }
    counts![places.get(match[0])!]!++
  }
  if (counts) take(counts, start, end)
}

/** BM25's tf / (k1 + tf) with the frequency divided by the relative length; in place. */
function saturate(counts: number[], characters: number, meanLength: number, { k1, b }: Weights): void {
  const length = 1 - b + (b * characters) / Math.max(1, meanLength)
  for (let at = 0; at < counts.length; at++) {
    const share = counts[at]! / length
    if (share > 0) counts[at] = share / (k1 + share)
  }
}

function nothing(size: number): number[] {
  return new Array<number>(size).fill(0)
}

/** The credit of each term: full for the memory's own text, less for its context, diminishing with each further match. */
function creditsOf(
  { own, about, near }: Matches,
  talk: readonly boolean[] | undefined,
  neighbours: number,
  chosen: Weights,
): number[] {
  return own.map((share, at) => {
    let credit = share + (about[at]! > 0 ? chosen.about : 0) + (talk?.[at] ? chosen.conversation : 0)
    let left = share > 0 ? chosen.rest * neighbours : neighbours
    for (const gained of near) {
      credit += gained[at]! * left
      if (gained[at]! > 0) left *= chosen.rest
    }
    return credit
  })
}

/** The terms that the candidates of a conversation contain together; memories of no named conversation have none. */
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

/** Words for times. */
const times =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|weeks?|weekend|months?|years?|morning|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|\d{4})\b|\bMay\b/i

/** The factor of a memory's form: question or statement, with a time or without, its length. */
function manner({ entry, terms }: Candidate, asksTime: boolean, chosen: Weights): number {
  const question = isQuestion(entry.content) ? 1 - chosen.question : 1
  const time = asksTime && times.test(entry.content) ? 1 + chosen.time : 1
  return question * time * (1 + chosen.length * Math.log2(1 + terms.length / 5))
}
