import { readWords } from '../words/read-words.ts'
import { lettersOf } from './kinship.ts'
import { type Language, languageOf, type UnspacedLanguage } from './language-words.ts'
import { plain, termsOf } from './ranking-terms.ts'

/** A part of a life in which one thing holds at a time. */
export type Slot =
  | 'home'
  | 'work'
  | 'partner'
  | 'age'
  | 'weight'
  | 'health'
  | 'purchase'
  | 'plan'
  | 'diet'
  | 'number'
  | 'vehicle'
  | 'school'
  | 'pregnancy'
  | 'pet'

/** Wordings by language: `~` stands for the rest of a word, `…` for at most four words between; case, accents and apostrophes do not count. */
type Wordings = Readonly<Record<string, string>>

/** How people say in 15 languages what holds and that it ended, in the user's own words: "I live", not "he lives". */
const {
  slots: slotWords,
  endings,
  unsure,
  unmeant,
  others,
} = readWords<{
  /** Wordings that state a value of the slot, and those that end it or announce another. */
  readonly slots: Readonly<Record<Slot, { readonly states: Wordings; readonly ends: Wordings }>>
  /** Wordings of any slot that end what shares their other words: "X is history", "no longer X". */
  readonly endings: Wordings
  /** Words that leave open whether something is so: what they stand beside closes nothing. */
  readonly unsure: Wordings
  /** Words of a purchase that is made, and of a wish: "it is off" means neither. */
  readonly unmeant: Wordings
  /** Friends, neighbours and colleagues, who may be the subject of news in place of the user. */
  readonly others: Wordings
}>('slots')

type TextLanguage = Language | UnspacedLanguage | 'ar' | 'hi'

/** Characters in which a slot is looked for: a longer text says more than one thing. */
export const longestSlotText = 600

/** What a text says of slots. */
export interface SlotReading {
  /** In lower case, without accents and apostrophes, a single space between words. */
  readonly folded: string
  readonly language: TextLanguage
  readonly states: ReadonlySet<Slot>
  readonly ends: ReadonlySet<Slot>
  /** Whether it begins with a word that ends something, and so with no other subject. */
  readonly isAtStart: boolean
  /** Its clauses that end what shares their other words. */
  readonly endings: readonly string[]
  /** Whether it leaves open what it says, as "we might move" does. */
  readonly isUnsure: boolean
  /** Whether it tells of a purchase that is made, or of a wish. */
  readonly isUnmeant: boolean
  /** Whether its first words name somebody else: a friend, a neighbour, "Tom's parents". */
  readonly isOfOthers: boolean
}

const slots = Object.keys(slotWords) as Slot[]

/** Reads the slots of a text; a long one has none. */
export function readSlots(text: string): SlotReading {
  const folded = fold(text)
  const language = languageOfText(text, folded)
  if (text.length > longestSlotText)
    return {
      folded,
      language,
      states: new Set(),
      ends: new Set(),
      isAtStart: false,
      endings: [],
      isUnsure: true,
      isUnmeant: false,
      isOfOthers: false,
    }
  const script = scriptOf(language)
  const matching = (part: 'states' | 'ends') =>
    new Set(slots.filter((slot) => patternOf(`${slot} ${part}`, slotWords[slot][part], script)?.test(folded)))
  const ends = matching('ends')
  const ending = patternOf('endings', endings, script)!
  const clauses = folded.split(
    /[.,;:!…。，、；！]\s*| (?:and|und|et|y|e|en|i|ve|и|та|और|but|aber|mais|pero|ma|mas|maar|ale|ama|но|але) /u,
  )
  return {
    folded,
    language,
    states: matching('states'),
    ends,
    isAtStart: [...ends].some(
      (slot) => patternOf(`${slot} ends`, slotWords[slot].ends, script)?.exec(folded)?.index === 0,
    ),
    endings: clauses.filter((clause) => ending.test(clause)),
    isUnsure: unsure[language] !== undefined && compile([unsure[language]], script).test(folded),
    isOfOthers:
      others[language] !== undefined && compile([others[language]], script).test(folded.split(' ', 5).join(' ')),
    isUnmeant: unmeant[language] !== undefined && compile([unmeant[language]], script).test(folded),
  }
}

/** The words of a text as the lists write them. */
function fold(text: string): string {
  return lettersOf(text.slice(0, longestSlotText)).replace(/\s+/gu, ' ').trim()
}

/** The words of such endings themselves, as index terms. */
export function endingTerms(): ReadonlySet<string> {
  endingWords ??= new Set(Object.values(endings).flatMap((words) => termsOf(words.replace(/[~…?:\\]/gu, ' '))))
  return endingWords
}

let endingWords: ReadonlySet<string> | undefined

/** The words with which people state a slot in a language, to search for such statements. */
export function wordsOfSlot(slot: Slot, language: string): string {
  const states = slotWords[slot].states[language] ?? slotWords[slot].states['en']!
  return states.replace(/\(\?[:=!]|\\[a-z]|\{[^{}]*\}|[^\p{L}\p{M} ]/gu, ' ')
}

function languageOfText(text: string, folded: string): TextLanguage {
  if (/\p{Script=Arabic}/u.test(text)) return 'ar'
  if (/\p{Script=Devanagari}/u.test(text)) return 'hi'
  if (/[ışğİ]/u.test(text)) return 'tr'
  return languageOf(text, folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
}

type Script = 'Latin' | 'Cyrillic' | 'Arabic' | 'Devanagari' | 'Japanese' | 'Chinese'

const scriptByLanguage: Readonly<Record<string, Script>> = {
  ru: 'Cyrillic',
  uk: 'Cyrillic',
  ar: 'Arabic',
  hi: 'Devanagari',
  ja: 'Japanese',
  zh: 'Chinese',
}

function scriptOf(language: string): Script {
  return scriptByLanguage[language] ?? 'Latin'
}

/** By name and script: made when a text first needs it. */
const patterns = new Map<string, RegExp | undefined>()

/** The wordings of all languages of a script; undefined where there are none. */
function patternOf(name: string, wordings: Wordings, script: Script): RegExp | undefined {
  const key = `${name} ${script}`
  if (!patterns.has(key)) {
    const own = Object.entries(wordings).flatMap(([language, each]) => (scriptOf(language) === script ? [each] : []))
    patterns.set(key, own.length === 0 ? undefined : compile(own, script))
  }
  return patterns.get(key)
}

const compiled = new Map<string, RegExp>()

function compile(wordings: readonly string[], script: Script): RegExp {
  const source = wordings.join('|')
  const known = compiled.get(source)
  if (known) return known
  const words = plain(source)
    .replaceAll('~', '[\\p{L}\\p{M}]*')
    .replaceAll(' … ', '(?: \\S+){0,4}? ')
    .replace(/…\?? ?\??/gu, '(?:\\S+ ){0,4}?')
  const isSpaced = script !== 'Japanese' && script !== 'Chinese'
  const pattern = new RegExp(isSpaced ? `(?<![\\p{L}\\p{M}\\p{N}])(?:${words})(?![\\p{L}\\p{M}\\p{N}])` : words, 'u')
  compiled.set(source, pattern)
  return pattern
}
