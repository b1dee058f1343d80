import { readWords } from '../words/read-words.ts'
import type { Language, UnspacedLanguage } from './language-words.ts'

/**
 * The words for times of a language: alternatives of a regular expression over words as `plain` writes them, apart by single
 * spaces. Diacritics are taken from the lists where they are compiled.
 */
export interface TimeWords {
  /** The numbers from 1 to 12, and words for a few. */
  readonly numbers: string
  /** The units, in each form. */
  readonly day: string
  readonly week: string
  readonly month: string
  readonly year: string
  readonly weekend: string
  /** Without tonight: a question about a film for tonight does not ask for the memories of today. */
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  readonly tomorrow: string
  /** Adjectives before or behind a unit, a month or a day of the week. */
  readonly last: string
  readonly this: string
  readonly next: string
  /** Phrases with `#`, which stands for a number and a unit: so long ago, and as long as now. */
  readonly ago: string
  readonly recent: string
  /** From January on, apart by spaces; `_` stands for a space. */
  readonly months: string
  /** From Monday on. */
  readonly weekdays: string
  /** Spring, summer, autumn and winter, Christmas, New Year, Easter and Halloween, apart by spaces. */
  readonly periods: string
  /** Prepositions before a month, a period or a day of the week, without which these words may be others. */
  readonly in: string
  readonly since: string
  readonly before: string
}

/** The phrases of a language without spaces between words, or with particles that join them: `#` is a number. */
export interface UnspacedTimeWords {
  readonly numbers: string
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  readonly tomorrow: string
  /** This, last and next, by unit. */
  readonly last: UnspacedUnits
  readonly this: UnspacedUnits
  readonly next: UnspacedUnits
  /** The unit behind a number. */
  readonly units: UnspacedUnits & { readonly day: string }
  readonly ago: string
  readonly recent: string
  /** Behind the number of a year, a month and a day. */
  readonly dates: readonly [year: string, month: string, day: string]
  readonly since: string
  readonly before: string
}

interface UnspacedUnits {
  readonly week: string
  readonly month: string
  readonly year: string
  readonly weekend?: string
}

const words = readWords<{
  readonly spaced: Readonly<Record<Language, TimeWords>>
  readonly unspaced: Readonly<Record<UnspacedLanguage, UnspacedTimeWords>>
}>('times')

export const timeWords = words.spaced
export const unspacedTimeWords = words.unspaced
