import { languageOf, wordsIn } from './language-words.ts'
import { containsTerms, type LexicalEvidence } from './ranking-lexical.ts'
import type { MemoryQuery } from './ranking-query.ts'
import { plain, termsOf, wordsOf } from './ranking-terms.ts'
import { isAboutSelfUnspaced } from './unspaced-words.ts'

/** A ranked memory, as far as superseding looks at it. */
export interface Stated {
  readonly content: string
  /** Whether it is the persona's own answer, which supersedes nothing. */
  readonly isAnswer: boolean
  /** Its index terms, a space between them. */
  readonly terms: string
  readonly timestamp: number
  readonly evidence: LexicalEvidence
  /** The match that orders memories, with priors. */
  readonly match: number
}

/** Words that announce a change: now, moved, no longer, in the languages of the word lists. */
const announced =
  /(?<!\p{L})(?:now|mov(?:ed|ing)|changed|switched|swapped|replaced|new|instead|no longer|any ?more|since|from today|as of|these days|pushed|postponed|sold|raised|lowered|retired|used to|updated|jetzt|nun|umgezogen|neue?[nrs]?|nicht mehr|gewechselt|verschoben|seit|maintenant|désormais|déménagé|changé|nouve(?:au|lle)|déplacée?|vendue?|depuis|ahora|ya no|mudado|mudó|cambi(?:ado|ó|é)|nuev[ao]|desde|vendid[ao]|ora|adesso|trasferit[ao]|cambiat[ao]|nuov[ao]|spostat[ao]|agora|mud(?:ou|ei)|nov[ao]|já não|passou|teraz|przeprowadzi\p{L}+|zmieni\p{L}+|now[aey]|już nie|przenie\p{L}+|теперь|сейчас|переехал\p{L}*|нов(?:ый|ая|ое)|больше не|перен[её]с\p{L}*|сменил\p{L}*|nu|verhuisd|nieuwe?|niet meer|flyttat?|flyttade|ny|nytt|artık|şimdi|yeni|taşındı|тепер|зараз|переїха\p{L}*)(?!\p{L})|现在|換|换|改到|改成|搬|不再|変|变|引っ越|新し|変更|今は|지금|이사|바뀌|바꿨|바꾸|이제|옮/iu

/** Characters of a memory in which a change is announced: one that is longer says more than that. */
const announcing = 4_000

/** The memories at the front that are compared with later ones. */
const front = 8
/** The share of the older one's match that the newer one needs. */
const leastMatch = 0.3
/** The least overlap (Jaccard) of their telling terms; less suffices where the newer one announces a change. */
const leastOverlap = 0.15
const leastAnnouncedOverlap = 0.1
/** The share of the older one's matched terms that a newer one needs that announces a change. */
const leastShare = 0.4

/**
 * For each memory that a newer statement about the same thing supersedes: `[newer, older]` as places in the list, each
 * newer one moved before the older. A newer memory supersedes an older one that matches the same terms of the query and
 * shares enough of its words, but not one about another person: similarity or recency alone would be a trap.
 * Yields the characters that each step may have read.
 * @param ranked best first
 * @returns the new order of places, and for each place of a newer memory that of the older one
 */
export function* supersede(
  ranked: readonly Stated[],
  query: MemoryQuery,
): Generator<number, { readonly order: readonly number[]; readonly superseded: ReadonlyMap<number, number> }> {
  const order = ranked.map((_, place) => place)
  const readings = createReadings()
  const superseded = new Map<number, number>()
  for (let at = 0; at < Math.min(front, order.length); at++) {
    const older = order[at]!
    const later = order.slice(at + 1, 2 * front)
    yield later.reduce((sum, place) => sum + ranked[place]!.terms.length, ranked[older]!.terms.length)
    const newer = later.find(
      (place) => !superseded.has(place) && supersedes(ranked[place]!, ranked[older]!, query, readings),
    )
    if (newer === undefined) continue
    superseded.set(newer, older)
    order.splice(order.indexOf(newer), 1)
    order.splice(at, 0, newer)
  }
  return { order, superseded }
}

function supersedes(newer: Stated, older: Stated, query: MemoryQuery, readings: Readings): boolean {
  if (newer.isAnswer || newer.timestamp <= older.timestamp || newer.match < leastMatch * older.match) return false
  let asked = 0
  let both = 0
  older.evidence.likeness.forEach((alike, at) => {
    if (alike === 0) return
    asked++
    if (hasTerm(newer, at)) both++
  })
  if (both === 0 || both < leastShare * asked) return false
  const isSame = both === asked
  // Most memories announce nothing: their words need not be compared.
  if (!isSame && !readings.announces(newer)) return false
  const overlap = overlapOf(readings.telling(newer), readings.telling(older))
  const isAnnounced = () =>
    overlap >= leastAnnouncedOverlap &&
    readings.announces(newer) &&
    !query.terms.some((term, at) => isNameIn(query, term) && hasTerm(older, at) && !hasTerm(newer, at))
  return ((isSame && overlap >= leastOverlap) || isAnnounced()) && !isAboutAnother(newer, older, query, readings)
}

/** Whether a term of the query stands in a memory, in any form. */
function hasTerm({ evidence }: Stated, at: number): boolean {
  return evidence.likeness[at]! > 0
}

/** Whether a term is written with a capital inside the query; in German every noun is. */
function isNameIn(query: MemoryQuery, { isName, term }: MemoryQuery['terms'][number]): boolean {
  if (query.language !== 'de') return isName
  const nouns = query.text
    .split(/\s+/)
    .slice(1)
    .filter((word) => /^\p{Lu}/u.test(word))
  return nouns.some((word) => termsOf(word)[0] === term)
}

/** The properties of a memory that superseding reads, each made when it is first asked for. */
type Readings = ReturnType<typeof createReadings>

function createReadings() {
  const words = memoized(({ terms }) => terms.split(' ', 400))
  const language = memoized((stated) => languageOf(stated.content, words(stated).slice(0, 60)))
  return {
    language,
    /** Whether it announces a change. */
    announces: memoized(({ content }) => announced.test(content.slice(0, announcing))),
    /** Its first terms but for function words. */
    telling: memoized((stated) => {
      const { functions } = wordsIn(language(stated))
      return new Set(words(stated).filter((term) => !functions.has(term)))
    }),
    isAboutSelf: memoized((stated) => isAboutSelf(stated.content, language(stated))),
  }
}

function memoized<T>(make: (stated: Stated) => T): (stated: Stated) => T {
  const made = new Map<Stated, T>()
  return (stated) => {
    const known = made.get(stated)
    if (known !== undefined) return known
    const fresh = make(stated)
    made.set(stated, fresh)
    return fresh
  }
}

function overlapOf(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  let both = 0
  for (const term of first) if (second.has(term)) both++
  return both / Math.max(1, first.size + second.size - both)
}

/** Whether the newer one begins with another subject than the user: "Tane's bike" is no news of "my bike". */
function isAboutAnother(newer: Stated, older: Stated, query: MemoryQuery, readings: Readings): boolean {
  if (!query.isPersonal || !readings.isAboutSelf(older)) return false
  if (subjectPairs(query).some((pair) => contains(older, pair) && !contains(newer, pair))) return true
  if (readings.isAboutSelf(newer)) return false
  const { functions } = wordsIn(readings.language(newer))
  const asked = new Set(query.terms.filter((_, at) => hasTerm(newer, at)).map(({ term }) => term))
  for (const word of wordsOf(newer.content.slice(0, 300))) {
    const [term] = termsOf(word)
    if (term === undefined) continue
    if ([...asked].some((each) => each === term || (each.length > 3 && term.startsWith(each)))) return false
    if (!functions.has(plain(word)) && !announced.test(word)) return true
  }
  return false
}

/** The pairs of a query with the user as the subject of a verb: "we live", "I work". */
function subjectPairs({ pairs, language }: MemoryQuery): readonly string[] {
  const { subjects } = wordsIn(language)
  return pairs.filter((pair) => subjects.has(pair.slice(0, pair.indexOf(' '))))
}

function contains({ terms }: Stated, pair: string): boolean {
  return containsTerms(terms, pair)
}

function isAboutSelf(content: string, language: string): boolean {
  if (language === 'zh' || language === 'ja' || language === 'ko') return isAboutSelfUnspaced(content)
  const { self } = wordsIn(language)
  return wordsOf(content.slice(0, 1_000)).some((word) => self.has(plain(word)))
}
