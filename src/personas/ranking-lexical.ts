import { type Candidate, conversationOf, type Found } from './memory.ts'
import { isQuestion } from './ranking-index.ts'

/** What counts how much in the lexical score. */
export interface Weights {
  /** BM25's saturation: the lower, the less a repeated word adds. */
  readonly k1: number
  /** BM25's share of length. */
  readonly b: number
  /** The term is the speaker's name or part of the date. */
  readonly about: number
  /** The term stands one, two, three memories before or after. */
  readonly near: readonly [number, number, number]
  /** What is left of that between memories of no named conversation, which may stand side by side by chance. */
  readonly unnamed: number
  /** Added when the memory before it is a question: this one is likely its answer. */
  readonly asked: number
  /** The term stands somewhere in the same conversation. */
  readonly conversation: number
  /** What remains of a term's further credit once something nearer has had it. */
  readonly rest: number
  /** Taken off when the memory only asks. */
  readonly question: number
  /** Added when the query asks for a time and the memory tells one. */
  readonly time: number
  /** Added for each doubling of length: longer memories say more. */
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
 * How telling a term is that stands in `frequency` of a scope's memories: the idf of BM25 in its form that is never
 * negative (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). FTS5's own bm25()
 * counts over all scopes: other users' memories would shape the order, and its cost would grow with theirs.
 */
export function inverseFrequency(memories: number, frequency: number): number {
  return Math.log(1 + (memories - frequency + 0.5) / (frequency + 0.5))
}

/**
 * How well each candidate's words, and those around it, answer a query: about 1 for a memory that holds all of them, more
 * where what surrounds it speaks of them too, 0 for none. BM25's saturated frequencies, weighed by how telling a term is
 * in this scope, over several fields (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted
 * fields", 2004), divided by what the whole query is worth.
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
  return found.candidates.map((candidate, index) => {
    const name = conversationOf(candidate.entry.metadata)
    const credit = creditFor(matches[index]!, talks.get(name), name === '' ? chosen.unnamed : 1, chosen)
    const score = telling.reduce((sum, worth, at) => sum + worth * credit(at), 0)
    return (score / total) * manner(candidate, asksTime, chosen)
  })
}

/** How strongly each asked term stands in a memory and around it: saturated term frequencies from 0 to 1. */
interface Matches {
  readonly own: readonly number[]
  readonly about: readonly boolean[]
  /** The neighbours with any of the terms. */
  readonly around: readonly { readonly distance: number; readonly question: boolean; readonly own: readonly number[] }[]
}

function matchesOf({ terms, about, around }: Candidate, asked: Asked, meanLength: number, chosen: Weights): Matches {
  return {
    own: saturated(terms, asked, meanLength, chosen) ?? nothing(asked.size),
    about: (counts(about, asked) ?? nothing(asked.size)).map((count) => count > 0),
    around: around.flatMap(({ distance, question, terms: others }) => {
      const own = saturated(others, asked, meanLength, chosen)
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
function saturated(text: string, asked: Asked, meanLength: number, { k1, b }: Weights): number[] | undefined {
  const length = 1 - b + (b * text.length) / Math.max(1, meanLength)
  return counts(text, asked)?.map((count) => count / length / (k1 + count / length))
}

function nothing(size: number): number[] {
  return new Array<number>(size).fill(0)
}

/** What a memory earns for a term: in full for its own text, less for what stands around it, ever less for more of it. */
function creditFor(
  { own, about, around }: Matches,
  talk: readonly boolean[] | undefined,
  neighbours: number,
  chosen: Weights,
): (at: number) => number {
  return (at) => {
    let credit = own[at]! + (about[at] ? chosen.about : 0) + (talk?.[at] ? chosen.conversation : 0)
    let left = own[at]! > 0 ? chosen.rest * neighbours : neighbours
    chosen.near.forEach((weight, step) => {
      let gained = 0
      for (const { distance, question, own: theirs } of around) {
        if (Math.abs(distance) !== step + 1 || theirs[at] === 0) continue
        gained += theirs[at]! * (weight + (distance === -1 && question ? chosen.asked : 0))
      }
      credit += gained * left
      if (gained > 0) left *= chosen.rest
    })
    return credit
  }
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
function manner({ entry, terms }: Candidate, asksTime: boolean, chosen: Weights): number {
  const question = isQuestion(entry.content) ? 1 - chosen.question : 1
  const time = asksTime && times.test(entry.content) ? 1 + chosen.time : 1
  return question * time * (1 + chosen.length * Math.log2(1 + terms.length / 5))
}
