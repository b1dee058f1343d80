import { lazily } from '../words/lazily.ts'
import { languageOf, wordsIn } from './language-words.ts'
import { type Candidate, conversationOf, type Found } from './memory.ts'
import { isQuestion, readMark } from './ranking-index.ts'
import type { MemoryQuery, QueryTerm } from './ranking-query.ts'
import { hasLikeWords, likeness, spellingLookups } from './ranking-spelling.ts'
import { termsOf } from './ranking-terms.ts'

/** The weights of the match by words. */
export interface Weights {
  /** BM25's saturation: the lower, the less a repeated word adds. */
  readonly k1: number
  /** BM25's share of length. */
  readonly b: number
  /** The term is the speaker's name or part of the date. */
  readonly about: number
  /** The term stands one, two, three memories before; after. */
  readonly before: readonly [number, number, number]
  readonly after: readonly [number, number, number]
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
  /** Added for the share of the query's pairs of adjacent words that stand together in the memory too. */
  readonly pairs: number
  /** Added when query and memory both speak of the user. */
  readonly self: number
  /** Subtracted when the query is in another language than English and the memory in another than the query. */
  readonly foreign: number
}

/**
 * The product's weights: fitted on long conversations between two people, with their metadata and without, and rounded.
 * `npm run bench -- locomo` measures each conversation with weights that were fitted on the others, too; the optimum is flat.
 */
export const weights: Weights = {
  k1: 0.6,
  b: 0.4,
  about: 0.75,
  before: [0.675, 0.35, 0.18],
  after: [0.45, 0.35, 0.18],
  asked: 0.45,
  conversation: 0.08,
  rest: 0.5,
  question: 0.12,
  time: 0.22,
  length: 0.12,
  pairs: 0.2,
  self: 0.05,
  foreign: 0.08,
}

/**
 * The inverse document frequency of a term in `frequency` of a scope's memories: BM25's in its form that is never negative
 * (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). FTS5's own bm25() counts over
 * all scopes: other users' memories would shape the order, and its cost would grow with theirs.
 */
export function inverseFrequency(memories: number, frequency: number): number {
  return Math.log(1 + (memories - frequency + 0.5) / (frequency + 0.5))
}

/** The evidence of a memory's words for a query, in absolute terms: comparable between queries and scopes. */
export interface LexicalEvidence {
  /** The match that orders memories: about 1 with all terms, more with context that has them too, 0 with none. */
  readonly match: number
  /** The share of the query's information that the memory's own words cover, most of it in one passage; 0 to 1. */
  readonly coverage: number
  /** The information of the terms in its best passage, in nats. */
  readonly mass: number
  /** Whether it lacks a name that the query contains. */
  readonly lacksName: boolean
  /** Whether the query speaks of the user or one of its names stands in the memory. */
  readonly isPersonal: boolean
  /** The length of its terms, in characters. */
  readonly length: number
  /** For each term of the query the credit of its best form in the memory itself: 1 for the same, 0 where it has none. */
  readonly likeness: readonly number[]
}

/** The number of memories on which scores were calibrated; words of a smaller scope count as rare as there. */
export const referenceMemories = 240

/** The information of each term of a query in a scope, in nats. */
function informationOf(query: MemoryQuery, { memories, frequencies }: Found): number[] {
  return query.terms.map(
    (term, at) =>
      inverseFrequency(Math.max(memories, referenceMemories), frequencies[at] ?? 0) *
      term.worth *
      generalRarity(term, query.language),
  )
}

/**
 * How rare a word is in general, about 1: a match of "cholesterol" says more than one of "point", however few memories hold
 * either. Outside of English the length of a word stands for it. The exponent and bounds were chosen with the calibration.
 */
function generalRarity({ term, isWord, rarity }: QueryTerm, language: string): number {
  const rare = rarity ?? (!isWord ? 7.5 : language === 'en' ? 8.5 : Math.min(9.5, 8 + 0.5 * (term.length - 6)))
  return Math.min(1.2, Math.max(0.5, rare / 7.5)) ** 1.2
}

/**
 * The lexical evidence of each candidate. The match: BM25's saturated frequencies, weighted by information, over several
 * fields (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), divided by the score of
 * the whole query; pairs of words as in the sequential dependence model (Metzler and Croft, "A Markov random field model for
 * term dependencies", 2005). Yields the characters that each step has read. Once `isOver` returns true, the candidates
 * behind it are not read: the evidence is that of those before.
 */
export function* lexicalSteps(
  found: Found,
  query: MemoryQuery,
  chosen: Weights = weights,
  isOver: () => boolean = () => false,
): Generator<number, LexicalEvidence[]> {
  const information = informationOf(query, found)
  const total = information.reduce((sum, each) => sum + each, 0)
  if (total === 0 || query.terms.length === 0)
    return found.candidates.map(({ terms }) => noEvidence(query, terms.length))
  const asked = askedFor(query)
  const matches: Matches[] = []
  for (const candidate of found.candidates) {
    if (isOver()) break
    matches.push(matchesOf(candidate, asked, found.meanLength, chosen))
    yield candidate.terms.length + candidate.about.length + candidate.context.length
  }
  const talks = conversationTerms(found.candidates, matches)
  const asksTime = timeQuestion.test(query.text)
  const asks = wordingOf(query)
  // A term that occurs once scores 1 / (1 + k1): scores of other weights are brought to the scale of the product's.
  const scale = (1 + chosen.k1) / (1 + weights.k1)
  const evidence: LexicalEvidence[] = []
  for (const [index, matched] of matches.entries()) {
    const candidate = found.candidates[index]!
    const score = scoreOf(matched, talks.get(conversationOf(candidate.entry.metadata)), information, chosen)
    const form =
      score === 0 ? 0 : manner(candidate, asksTime, chosen) * wording(candidate, matched, query, asks, chosen)
    evidence.push(ownEvidence(candidate, query, matched, { match: (score / total) * scale * form, information, total }))
    if (form > 0) yield candidate.terms.length + candidate.entry.content.length
  }
  return evidence
}

function noEvidence({ isPersonal, terms }: MemoryQuery, length: number): LexicalEvidence {
  return { match: 0, coverage: 0, mass: 0, lacksName: false, isPersonal, length, likeness: nothing(terms.length) }
}

/** The matches of each query term in a memory and in its context. */
interface Matches {
  /** Saturated frequencies, from 0 to 1. */
  readonly own: readonly number[]
  /** The best credit of a form of the term in the memory itself: 1 for the same, less for one spelled alike. */
  readonly likeness: readonly number[]
  /** The places of the terms in the memory's own text, in its order; only of one longer than a passage. */
  readonly places: readonly Place[]
  /** Frequencies in the speaker's name and the date. */
  readonly about: readonly number[]
  /** Credit by neighbours one, two, three steps away, by step. */
  readonly near: readonly (readonly number[])[]
  /** The language of the memory, detected when it is needed. */
  readonly language: () => string
}

interface Place {
  readonly at: number
  readonly term: number
}

function matchesOf(candidate: Candidate, asked: Asked, meanLength: number, chosen: Weights): Matches {
  const { terms, about, context } = candidate
  const { zeros, size } = asked
  const language = lazily(() => languageOfMemory(candidate))
  const trust = () => spellingTrust(language(), asked.language)
  const near: (readonly number[] | number[])[] = [zeros, zeros, zeros]
  eachLine(context, asked, trust, (line, start, end) => {
    const first = context.indexOf(' ', start) + 1
    const { distance, question } = readMark(context.slice(start, first - 1))
    const step = Math.abs(distance) - 1
    if (step >= near.length) return
    const worth =
      (distance < 0 ? chosen.before : chosen.after)[step]! + (distance === -1 && question ? chosen.asked : 0)
    if (near[step] === zeros) near[step] = nothing(size)
    addShares(near[step] as number[], line, relativeLength(end - first, meanLength, chosen), worth, chosen)
  })
  let own = zeros
  let likeness = zeros
  const places: Place[] = []
  const take = (line: LineMatches) => {
    const shares = nothing(size)
    addShares(shares, line, relativeLength(terms.length, meanLength, chosen), 1, chosen)
    own = shares
    likeness = line.likeness.slice()
  }
  eachLine(terms, asked, trust, take, terms.length > passage ? places : undefined)
  let named = zeros
  eachLine(about, asked, exactly, ({ counts }) => {
    named = counts.slice()
  })
  return { own, likeness, places, about: named, near, language }
}

/** Adds the saturated frequency of each term in a line, times its likeness and `worth`. */
function addShares(
  shares: number[],
  { counts, likeness }: LineMatches,
  length: number,
  worth: number,
  chosen: Weights,
): void {
  for (let at = 0; at < shares.length; at++)
    if (counts[at]! > 0) shares[at]! += saturated(counts[at]!, length, chosen) * likeness[at]! * worth
}

/** BM25's tf / (k1 + tf) with the frequency divided by the relative length. */
function saturated(count: number, relativeLength: number, { k1 }: Weights): number {
  const share = count / relativeLength
  return share / (k1 + share)
}

function relativeLength(characters: number, meanLength: number, { b }: Weights): number {
  return 1 - b + (b * characters) / Math.max(1, meanLength)
}

const exactly = () => 0

/** The trust in words spelled alike, from 0 to 1: full in one language, less between two, none with English. */
function spellingTrust(memory: string, query: string): number {
  return memory === query ? 1 : memory === 'en' ? 0 : 0.8
}

/** The language of a memory's beginning. Its terms stand for its words: few function words have another stem. */
function languageOfMemory({ entry, terms }: Candidate): string {
  return languageOf(entry.content.slice(0, languageSample), terms.slice(0, languageSample).split(' '))
}

/** Characters by which the language of a memory is detected. */
const languageSample = 300

/** A query's terms as one regular expression, which is far faster than splitting the texts. */
interface Asked {
  readonly size: number
  /** A zero for each term: the matches of most memories. */
  readonly zeros: readonly number[]
  /** The matches of the line that is read: one object for all lines. */
  readonly line: LineMatches
  readonly language: string
  readonly pattern: RegExp
  /** The terms that a word of a memory matches, and the credit of each. */
  termsFor(word: string): readonly (readonly [term: number, likeness: number])[]
}

/** Terms hold letters, marks and digits only, so they need no escaping. */
function askedFor({ terms, language }: MemoryQuery): Asked {
  const patterns = new Set<string>()
  terms.forEach((term) => {
    if (term.term === '') return
    patterns.add(term.term)
    for (const { text, isPrefix } of spellingLookups(term, language)) patterns.add(isPrefix ? `${text}[^ \\n]*` : text)
    // A compound that ends with the term.
    if (hasLikeWords(term, language) && term.term.length >= 5) patterns.add(`[^ \\n]*${term.term}`)
  })
  const known = new Map<string, readonly (readonly [number, number])[]>()
  return {
    size: terms.length,
    zeros: nothing(terms.length),
    line: { counts: nothing(terms.length), likeness: nothing(terms.length) },
    language,
    pattern: new RegExp(`(?<![^ ])(?:${[...patterns].join('|') || '(?!)'})(?![^ \\n])`, 'g'),
    termsFor(word) {
      let found = known.get(word)
      if (!found) {
        found = terms.flatMap((term, at) => {
          const alike = word === term.term ? 1 : hasLikeWords(term, language) ? likeness(term.term, word) : 0
          return alike > 0 ? [[at, alike] as const] : []
        })
        known.set(word, found)
      }
      return found
    },
  }
}

interface LineMatches {
  /** The frequency of each term, in its best form. */
  readonly counts: number[]
  readonly likeness: number[]
}

/**
 * Calls `take` for each line with a match: the matches, and the line's start and end.
 * @param trust the factor of words that are only spelled alike; asked for only where there is one
 */
function eachLine(
  text: string,
  asked: Asked,
  trust: () => number,
  take: (matches: LineMatches, start: number, end: number) => void,
  places?: Place[],
): void {
  const { pattern, line } = asked
  let start = 0
  let end = -1
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    for (const [term, alike] of asked.termsFor(match[0])) {
      const worth = alike === 1 ? 1 : alike * trust()
      if (worth === 0) continue
      if (match.index > end) {
        if (end > 0) take(line, start, end)
        while (match.index > end) {
          start = end + 1
          end = text.indexOf('\n', start)
          if (end < 0) end = text.length
        }
        clear(line)
      }
      if (worth > line.likeness[term]!) {
        line.likeness[term] = worth
        line.counts[term] = 1
      } else if (worth === line.likeness[term]) line.counts[term]!++
      places?.push({ at: match.index, term })
    }
  }
  if (end > 0) take(line, start, end)
}

/** A loop: to fill arrays of so few numbers costs several times as much. */
function clear({ counts, likeness }: LineMatches): void {
  for (let at = 0; at < counts.length; at++) {
    counts[at] = 0
    likeness[at] = 0
  }
}

function nothing(size: number): number[] {
  return new Array<number>(size).fill(0)
}

/** The information of the terms by credit: less for the context than for the text, and for each further match. */
function scoreOf(
  { own, about, near }: Matches,
  talk: readonly boolean[] | undefined,
  information: readonly number[],
  chosen: Weights,
): number {
  let score = 0
  for (let at = 0; at < own.length; at++) {
    const share = own[at]!
    let credit = share + (about[at]! > 0 ? chosen.about : 0) + (talk?.[at] ? chosen.conversation : 0)
    let left = share > 0 ? chosen.rest : 1
    for (const gained of near) {
      credit += gained[at]! * left
      if (gained[at]! > 0) left *= chosen.rest
    }
    score += information[at]! * credit
  }
  return score
}

/** The terms that the candidates of a conversation contain together; memories of no named conversation have none. */
function conversationTerms(
  candidates: readonly Candidate[],
  matches: readonly Matches[],
): ReadonlyMap<string, readonly boolean[]> {
  const talks = new Map<string, boolean[]>()
  matches.forEach(({ own }, index) => {
    const name = conversationOf(candidates[index]!.entry.metadata)
    if (name === '') return
    const talk = talks.get(name) ?? []
    talks.set(name, talk)
    own.forEach((share, at) => {
      if (share > 0) talk[at] = true
    })
  })
  return talks
}

/** Characters of terms that count as one passage: some 35 words, two or three sentences. */
const passage = 220
/** The credit of matches outside of the best passage. */
const elsewhere = 0.3
/** The presence of a term that is only the speaker's name or in the date. */
const aboutPresence = 0.6

function ownEvidence(
  { terms }: Candidate,
  query: MemoryQuery,
  { likeness, places, about }: Matches,
  { match, information, total }: { match: number; information: readonly number[]; total: number },
): LexicalEvidence {
  let mass = 0
  let lacksName = false
  let hasName = false
  query.terms.forEach(({ isName, isWord, rarity }, at) => {
    const alike = likeness[at]!
    const presence = alike > 0 ? alike : about[at]! > 0 ? aboutPresence : 0
    mass += information[at]! * presence
    if (isName && presence === 0) lacksName = true
    const mayBeName = query.language === 'en' && !query.isGeneral && isWord && rarity === undefined
    if (alike === 1 && (isName || mayBeName)) hasName = true
  })
  const worths = () => information.map((worth, at) => worth * likeness[at]!)
  const best = terms.length > passage ? Math.min(mass, bestPassage(places, worths())) : mass
  return {
    match,
    coverage: (best + elsewhere * (mass - best)) / total,
    mass: best,
    lacksName,
    isPersonal: query.isPersonal || hasName,
    length: terms.length,
    likeness,
  }
}

/** The greatest worth of the terms within one passage, each counted once. */
function bestPassage(places: readonly Place[], worths: readonly number[]): number {
  let best = 0
  const inside = nothing(worths.length)
  let sum = 0
  let first = 0
  for (const { at, term } of places) {
    if (inside[term]!++ === 0) sum += worths[term]!
    while (at - places[first]!.at > passage) {
      const { term: gone } = places[first++]!
      if (--inside[gone]! === 0) sum -= worths[gone]!
    }
    best = Math.max(best, sum)
  }
  return best
}

/** The query's words for the user, as index terms of a memory; undefined where the query does not speak of the user. */
function selfPattern({ isPersonal, language }: MemoryQuery): RegExp | undefined {
  const words = isPersonal ? [...wordsIn(language).self] : []
  if (words.length === 0) return undefined
  return new RegExp(`(?<![^ ])(?:${[...new Set(words.flatMap(termsOf))].join('|')})(?![^ ])`)
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

/** The factor of wording: pairs of words that stand together in both, speaking of the user in both, and one language. */
function wording(
  { terms }: Candidate,
  { likeness, language }: Matches,
  query: MemoryQuery,
  { pairs, self }: Wording,
  chosen: Weights,
): number {
  let together = 0
  for (const { text, asked } of pairs)
    if (asked.every((term) => likeness[term] === 1) && containsTerms(terms, text)) together++
  const share = pairs.length === 0 ? 0 : together / pairs.length
  const isForeign = query.language !== 'en' && language() !== query.language
  return (1 + chosen.pairs * share) * (self?.test(terms) ? 1 + chosen.self : 1) * (isForeign ? 1 - chosen.foreign : 1)
}

/** The wording of a query that `wording` looks for. */
interface Wording {
  /** The pairs of words, each with the terms of the query in it: few memories have both. */
  readonly pairs: readonly { readonly text: string; readonly asked: readonly number[] }[]
  /** See `selfPattern`. */
  readonly self: RegExp | undefined
}

function wordingOf(query: MemoryQuery): Wording {
  const pairs = query.pairs.map((text) => {
    const words = text.split(' ')
    return { text, asked: query.terms.flatMap(({ term }, at) => (words.includes(term) ? [at] : [])) }
  })
  return { pairs, self: selfPattern(query) }
}

/** Whether the terms contain the pair, as whole terms. */
export function containsTerms(terms: string, pair: string): boolean {
  for (let at = terms.indexOf(pair); at >= 0; at = terms.indexOf(pair, at + 1)) {
    const end = at + pair.length
    if ((at === 0 || terms[at - 1] === ' ') && (end === terms.length || terms[end] === ' ')) return true
  }
  return false
}
