import { lettersOf } from './kinship.ts'
import { type Language, languageOf, type UnspacedLanguage } from './language-words.ts'
import { plain, termsOf } from './ranking-terms.ts'
import { endings, type Slot, slotWords, unsure } from './slot-words.ts'

/** The languages of the lists in `slot-words.ts`, in their order. */
const slotLanguages = 'en de fr es it pt nl pl tr ru uk ar hi ja zh'.split(' ')

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
}

const slots = Object.keys(slotWords) as Slot[]

/** Reads the slots of a text; a long one has none. */
export function readSlots(text: string): SlotReading {
  const folded = fold(text)
  const language = languageOfText(text, folded)
  if (text.length > longestSlotText)
    return { folded, language, states: new Set(), ends: new Set(), isAtStart: false, endings: [], isUnsure: true }
  const script = scriptOf(language)
  const matching = (part: 'states' | 'ends') =>
    new Set(slots.filter((slot) => patternOf(`${slot} ${part}`, slotWords[slot][part], script)?.test(folded)))
  const ends = matching('ends')
  const ending = patternOf('endings', endings, script)!
  const clauses = folded.split(
    /[.,;:!…。，、；！]\s*| (?:and|und|et|y|e|en|i|ve|и|та|और|but|aber|mais|pero|ma|mas|maar|ale|ama|но|але) /u,
  )
  const at = slotLanguages.indexOf(language)
  return {
    folded,
    language,
    states: matching('states'),
    ends,
    isAtStart: [...ends].some(
      (slot) => patternOf(`${slot} ends`, slotWords[slot].ends, script)?.exec(folded)?.index === 0,
    ),
    endings: clauses.filter((clause) => ending.test(clause)),
    isUnsure: at >= 0 && compile([unsure[at]!], script).test(folded),
  }
}

/** The words of a text as the lists write them. */
function fold(text: string): string {
  return lettersOf(text.slice(0, longestSlotText)).replace(/\s+/gu, ' ').trim()
}

/** The words of such endings themselves, as index terms. */
export function endingTerms(): ReadonlySet<string> {
  endingWords ??= new Set(endings.flatMap((words) => termsOf(words.replace(/[~…?:\\]/gu, ' '))))
  return endingWords
}

let endingWords: ReadonlySet<string> | undefined

/** The words with which people state a slot in a language, to search for such statements. */
export function wordsOfSlot(slot: Slot, language: string): string {
  const states = slotWords[slot].states[Math.max(0, slotLanguages.indexOf(language))] ?? ''
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
function patternOf(name: string, wordings: readonly string[], script: Script): RegExp | undefined {
  const key = `${name} ${script}`
  if (!patterns.has(key)) {
    const own = wordings.filter((_, at) => scriptOf(slotLanguages[at]!) === script)
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
