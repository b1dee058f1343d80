import { type Language, languageOf, type UnspacedLanguage, wordsIn } from './language-words.ts'
import { plain, termsOf, unspaced, wordsOf } from './ranking-terms.ts'
import { isRequest } from './requests.ts'
import { timesOfQuery } from './time-words.ts'
import { isAboutSelfUnspaced, withoutParticle, worthOfCharacters } from './unspaced-words.ts'

export interface QueryTerm {
  /** As the index knows it. */
  readonly term: string
  /** The weight of the word's role, from 0 to 1: a word of requests such as "explain" tells little. */
  readonly worth: number
  /** Whether it is a word of letters, which may match another form of itself. */
  readonly isWord: boolean
  /** Whether it is written with a capital inside the query: likely a name. */
  readonly isName: boolean
  /** The rarity of the word in the language at large; undefined for unknown words and other languages than English. */
  readonly rarity?: number
}

export type MemoryQuery = ReturnType<typeof readQuery>

/**
 * The rarity of an English word, see `Embedders.rarity`. A query is read without it where the word vectors are missing.
 */
export type Rarity = (word: string) => number | undefined

/** Each term costs a lookup. */
const mostTerms = 32

/**
 * Parses a query. It has at least one term unless its text holds neither letters nor digits.
 * @param now to which its "last week" refers, in milliseconds since 1970 UTC; undefined leaves times alone
 */
export function readQuery(text: string, rarity?: Rarity, now?: number) {
  const words = wordsOf(text)
  const plainWords = words.map(plain)
  const language = languageOf(text, plainWords)
  const capitals = capitalsOf(text)
  const terms = new Map<string, QueryTerm>()
  const add = (term: QueryTerm) => {
    if (!terms.has(term.term)) terms.set(term.term, term)
  }
  /** The times that it names, such as "last week"; none where it was read without a `now`. */
  const times = now === undefined ? [] : timesOfQuery(text, now)
  // A memory that was stored in that week or summer need not say "week", and one that does speaks of another.
  const unsaid = times.filter((time) => time.isRelative || time.isPeriod)
  const relative = new Set(unsaid.flatMap((time) => termsOf(time.words)))
  const { functions, weak } = wordsIn(language)
  const termsByWord = words.map((word) => (unspaced.test(word) ? [] : termsOf(word)))
  for (const [at, word] of words.entries()) {
    if (unspaced.test(word)) {
      addUnspaced(word, language as UnspacedLanguage, relative, add)
      continue
    }
    const letters = plainWords[at]!
    const [term] = termsByWord[at]!
    if (term === undefined || functions.has(letters)) continue
    const worth = relative.has(term) || weak.has(letters) || isWeakStem(term, language) ? weakWorth : 1
    const rare = language === 'en' ? rarity?.(letters) : undefined
    const isName = language !== 'de' && capitals.has(letters)
    add({ term, worth, isWord: true, isName, ...(rare !== undefined && { rarity: rare }) })
  }
  // A query of function words alone asks for them.
  if (terms.size === 0) for (const term of termsOf(text)) add({ term, worth: 1, isWord: true, isName: false })
  const kept = [...terms.values()].slice(0, mostTerms)
  const personal = isPersonal(text, plainWords, language)
  const said = new Set(times.flatMap((time) => termsOf(time.words)))
  return {
    text,
    language,
    /** Whether it speaks of the user: "my", "we". */
    isPersonal: personal,
    /** Whether it speaks of the user, or of something known: "the puppy". */
    isParticular: personal || plainWords.some((word) => wordsIn(language).definite.has(word)),
    /** Whether it asks the persona about herself, or sets a task about things at large: "do you like tea?", "a poem about a ferry". */
    isGeneral: !personal && isGeneral(text, plainWords, language),
    terms: kept,
    /** The pairs of adjacent words with at least one telling word, as index terms with a space between them. */
    pairs: pairsOf(termsByWord.flat(), kept),
    times,
    /** Whether it names a time and no other telling word: "what did I do last week?". */
    isOnlyTime: times.length > 0 && kept.every(({ term, worth }) => worth <= weakWorth || said.has(term)),
  }
}

/** The index terms of a query. */
export function queryTermsOf(text: string): string[] {
  return readQuery(text).terms.map(({ term }) => term)
}

const weakWorth = 0.25

const weakStems = new Map<string, ReadonlySet<string>>()

/** Whether a term is a form of a weak word. */
function isWeakStem(term: string, language: string): boolean {
  let stems = weakStems.get(language)
  if (!stems) {
    stems = new Set([...wordsIn(language).weak].flatMap(termsOf))
    weakStems.set(language, stems)
  }
  return stems.has(term)
}

function addUnspaced(
  word: string,
  language: UnspacedLanguage,
  relative: ReadonlySet<string>,
  add: (term: QueryTerm) => void,
): void {
  const bare = withoutParticle(word, language)
  if (bare === undefined) return
  const terms = termsOf(bare)
  for (const term of terms) {
    if (language === 'ko' && [...term].length === 1 && terms.length > 1) continue
    const worth = worthOfCharacters(term, language) * (relative.has(term) ? weakWorth : 1)
    if (worth > 0) add({ term, worth, isWord: false, isName: false })
  }
}

/** The words with a capital, but for the first word of the text. */
function capitalsOf(text: string): ReadonlySet<string> {
  const written = text.split(/[^\p{L}\p{M}\p{N}'’]+/u).filter(Boolean)
  const capital = written.slice(1).filter((word) => word !== word.toLowerCase())
  return new Set(capital.flatMap((word) => wordsOf(word).map(plain)))
}

/** English phrases with an "I" or "me" that is not about the user: how do I …, tell me …. */
const impersonal =
  /\b(?:how (?:do|can|should|could|would|long should|much should|to) i|(?:tell|give|show|remind|help|teach|write|make|explain to|find|let|sing|play|draw|read) me)\b/i

function isPersonal(text: string, words: readonly string[], language: Language | UnspacedLanguage): boolean {
  if (language === 'zh' || language === 'ja' || language === 'ko') return isAboutSelfUnspaced(text)
  const { self } = wordsIn(language)
  const isImpersonal = language === 'en' && impersonal.test(text)
  return words.some((word) => self.has(word) && !(isImpersonal && (word === 'i' || word === 'me')))
}

function isGeneral(text: string, words: readonly string[], language: Language | UnspacedLanguage): boolean {
  if (language === 'zh' || language === 'ja' || language === 'ko') return false
  const { addressed, recalling, definite } = wordsIn(language)
  const has = (list: ReadonlySet<string>) => words.some((word) => list.has(word))
  return has(recalling) ? false : isRequest(text) ? !has(definite) : has(addressed)
}

/** Pairs of a query that are looked for. */
const mostPairs = 16

/** @param sequence the terms of all words that are written with spaces between them */
function pairsOf(sequence: readonly string[], terms: readonly QueryTerm[]): string[] {
  const telling = new Set(terms.filter(({ isWord }) => isWord).map(({ term }) => term))
  const pairs = new Set<string>()
  for (let at = 1; at < sequence.length && pairs.size < mostPairs; at++) {
    const [first, second] = [sequence[at - 1]!, sequence[at]!]
    if (telling.has(first) || telling.has(second)) pairs.add(`${first} ${second}`)
  }
  return [...pairs]
}
