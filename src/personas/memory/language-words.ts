import { readWords } from '../words/read-words.ts'

/**
 * Words that tell little, of each language that a search knows, as `plain` writes them: without capitals and
 * diacritics. Lists of function words are a common means of telling languages apart (Grefenstette, "Comparing two
 * language identification schemes", 1995) and of leaving the words of every text out of queries.
 */
interface LanguageWords {
  /** Articles, pronouns, prepositions, auxiliary verbs: left out of queries. */
  readonly functions: ReadonlySet<string>
  /** Words of requests and questions, such as "explain" and "name": they count a quarter. */
  readonly weak: ReadonlySet<string>
  /** Words for the speaker, such as "my" and "we": a query with one asks about the user. */
  readonly self: ReadonlySet<string>
  /** Those of them that stand before a verb as its subject, or as its object where it is reflexive: "I work". */
  readonly subjects: ReadonlySet<string>
  /** Words for the persona, such as "you"; and verbs by which one asks her what she knows of oneself: "do you remember". */
  readonly addressed: ReadonlySet<string>
  readonly recalling: ReadonlySet<string>
  /** Articles and pronouns of what is known: "the ferry" and not "a ferry". */
  readonly definite: ReadonlySet<string>
}

/** ISO 639-1 codes. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'pl' | 'ru' | 'sv' | 'tr' | 'uk'

/** Languages that are written without spaces between words, or with particles that join them. */
export type UnspacedLanguage = 'zh' | 'ja' | 'ko'

/** In lines of words. */
type Lists = Readonly<Record<keyof LanguageWords, readonly string[]>>

const listNames = ['functions', 'weak', 'self', 'subjects', 'addressed', 'recalling', 'definite'] as const

const wordsOfLists = (lists: Partial<Lists>) =>
  Object.fromEntries(listNames.map((name) => [name, setOf(lists[name] ?? [])])) as Record<
    keyof LanguageWords,
    Set<string>
  >

const languageWords = new Map<string, LanguageWords>(
  Object.entries(readWords<Readonly<Record<Language, Lists>>>('languages')).map(([language, lists]) => [
    language,
    wordsOfLists(lists),
  ]),
)

function setOf(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '))
}

const languages = [...languageWords.keys()] as Language[]

/** The languages of each word, as places in `languages`: 1 for a function word, a half for a weak one. */
const languagesOfWord = new Map<string, (readonly [language: number, share: number])[]>()
for (const [at, language] of languages.entries()) {
  const { functions, weak } = languageWords.get(language)!
  for (const word of new Set([...functions, ...weak])) {
    const share = [at, functions.has(word) ? 1 : 0.5] as const
    languagesOfWord.set(word, [...(languagesOfWord.get(word) ?? []), share])
  }
}

const none: LanguageWords = wordsOfLists({})

/** The lists of a language; empty ones for an unknown language. */
export function wordsIn(language: string): LanguageWords {
  return languageWords.get(language) ?? none
}

/**
 * The language of a text: by its script, else the one with the most function words in it, English before others; `ru` for
 * other Cyrillic and `en` for other texts without any.
 * @param words the text's words, as `plain` writes them
 */
export function languageOf(text: string, words: readonly string[]): Language | UnspacedLanguage {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/\p{Script=Han}/u.test(text)) return 'zh'
  const counts = new Float64Array(languages.length)
  for (const word of words) {
    const shares = languagesOfWord.get(word)
    if (shares) for (const [at, share] of shares) counts[at]! += share
  }
  let best = 0
  for (let at = 1; at < counts.length; at++) if (counts[at]! > counts[best]!) best = at
  if (counts[best]! > 0) return languages[best]!
  return /\p{Script=Cyrillic}/u.test(text) ? 'ru' : 'en'
}
