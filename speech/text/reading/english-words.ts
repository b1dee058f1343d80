import { readData } from '../../shared/data.ts'

type Words = Readonly<Record<string, string>>

/** One, many, and the hundredth where sums have some. */
type Currency = readonly [one: string, many: string, cent?: string, cents?: string]

interface Vocabulary {
  /** The numbers that are one word each, and the tens. */
  readonly small: readonly string[]
  readonly tens: readonly string[]
  readonly months: readonly string[]
  readonly days: readonly string[]
  /** Units behind a number, for one; those of `unitsOfMany` have a plural of their own. */
  readonly units: Words
  readonly unitsOfMany: Words
  /** Letters and words behind a number that multiply it. */
  readonly scales: Words
  readonly currencySigns: Readonly<Record<string, Currency>>
  readonly currencyCodes: Readonly<Record<string, Currency>>
  /** Titles, whose dot ends no sentence; they stand before a name. */
  readonly titles: Words
  /** What stands behind a name: streets, degrees of kinship, companies. */
  readonly behindNames: Words
  readonly beforeNumbers: Words
  /** Abbreviations anywhere; those with `.` inside are looked up without blanks. */
  readonly anywhere: Words
  readonly acronyms: {
    /** Those of two and three letters that are read as words, and words in capitals for emphasis, which are no acronyms. */
    readonly asWords: readonly string[]
    /** Longer ones that could be said as words, and are spelled. */
    readonly spelled: readonly string[]
    /** Those that are said in other words. */
    readonly saidAs: Words
  }
  readonly elements: readonly string[]
  /** Names of rulers and popes, whose numerals are ordinals. */
  readonly rulers: readonly string[]
  /** The signs of addresses and of names of files. */
  readonly signsOfNames: Words
  /** Short endings of such names that are words; others are spelled. */
  readonly spokenEndings: readonly string[]
  /** The endings of names of files. */
  readonly files: readonly string[]
}

export const vocabulary = readData<Vocabulary>('text/reading/english.json')
