import { isoTime } from '../../formats/formats.ts'
import { type Language, languageOf, type UnspacedLanguage, wordsIn } from './language-words.ts'
import { plain, unified, wordsOf } from './ranking-terms.ts'
import { type Grammar, grammarOf, isUnspaced, type Meaning, type Rule } from './time-grammar.ts'
import { dateSpan, dayMs, endOfTime, monthSpan, type TimeSpan } from './time-spans.ts'
import { timeWords, unspacedTimeWords } from './time-word-lists.ts'

/** A time that a text names. */
export type SaidTime = ReturnType<typeof saidTime>

/** Characters in which times are looked for. */
const longest = 1_000

/** Times of one text. */
const mostTimes = 4

/**
 * The times that a text names, in its language: "last week", "in March", "2023", "vor zwei Wochen", "先週".
 * @param now to which "last week" refers: milliseconds since 1970 UTC
 */
export function timesIn(text: string, now: number): readonly SaidTime[] {
  const { words, dates, language } = read(text.slice(0, longest), now)
  return timesOf(language, words, dates, now)
}

/**
 * The times that a query names, as `timesIn` gives them. A short query may have no word that tells its language: where that
 * finds none, the others are tried; but a single word such as "hier" may be another's, where two words tell the language.
 */
export function timesOfQuery(text: string, now: number): readonly SaidTime[] {
  const { words, dates, language } = read(text.slice(0, longest), now)
  const found = timesOf(language, words, dates, now)
  if (found.length > 0 || words.length > fewWords) return found
  const { functions } = wordsIn(language)
  const isSure = words.filter((word) => functions.has(word)).length > 1 || (words.length > 1 && isUnspaced(language))
  for (const other of languages) {
    const times = other === language ? [] : timesOf(other, words, dates, now)
    const own = times.filter((time) => words.length === 1 || !functions.has(time.words))
    const meant = own.filter((time) => !isSure || time.words.includes(' '))
    if (meant.length > 0) return meant
  }
  return []
}

/** Words of a query that may not tell their language. */
const fewWords = 12

/**
 * Reads a text that is nothing but a time, in any of the languages: `yesterday`, `letzte Woche`, `2023`, `2024-05-08`.
 * Resolves it to the moment with which that time begins; undefined where it is none.
 */
export function timeFromWords(text: string, now: number): number | undefined {
  if (text.length > longestAlone) return undefined
  const { words, dates } = read(text, now)
  if (words.join('') === '') return undefined
  for (const language of languages) {
    const [time, second] = timesOf(language, words, dates, now, true)
    const isWhole = time !== undefined && second === undefined && time.words === joined(language, words).trim()
    if (isWhole && time.start >= 0 && time.start < endOfTime) return time.start
  }
  return undefined
}

/** Characters of a text that is nothing but a time. */
const longestAlone = 100

/** The forms of a time that `timeFromText` reads, as an error names them. */
export const timeForms =
  'a time such as 2024-05-08, 2024-05-08T17:30, 7d, "last week" or "in March", in your language, or milliseconds since 1970 UTC'

/**
 * Reads a time from a user: an ISO 8601 day or time, a time ago (`12h`, `7d`, `2w`), a time in words as `timeFromWords`, or
 * milliseconds since 1970 UTC; a number of four digits from 1970 to 2099 is a year. Undefined for any other text.
 */
export function timeFromText(text: string, now: number): number | undefined {
  const trimmed = text.trim()
  const time = isoTime(trimmed)
  if (time !== undefined || /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/.test(trimmed)) return time
  if (/^-?\d+$/.test(trimmed) && !/^(?:19[789]|20\d)\d$/.test(trimmed)) return numberIn(Number(trimmed))
  const [, count, unit] = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(trimmed) ?? []
  if (count === undefined) return timeFromWords(trimmed, now)
  const units = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs }
  return Math.max(0, Math.round(now - Number(count) * units[unit as keyof typeof units]))
}

function numberIn(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined
}

/**
 * How near a memory's times are to those that a query names, from 0 to 1: 1 within one of them, less within half its
 * length of it, 0 beyond. Its times are that of its words, the time in which it holds, and those that it names itself.
 */
export function nearnessInTime(
  memory: {
    readonly content: string
    readonly timestamp: number
    readonly metadata: Readonly<Record<string, unknown>>
  },
  times: readonly SaidTime[],
): number {
  const spans = times.flatMap((time) => time.spans)
  const nearest = Math.max(0, ...spans.map((span) => nearness(memory.timestamp, span)))
  if (nearest === 1) return 1
  const { valid_from: from, valid_to: to } = memory.metadata
  const isValid = ({ from: start, to: end }: TimeSpan) =>
    (typeof from === 'number' || typeof to === 'number') &&
    (typeof from !== 'number' || from < end) &&
    (typeof to !== 'number' || to >= start)
  if (spans.some(isValid)) return 1
  const said = timesIn(memory.content, memory.timestamp).flatMap((time) => time.spans)
  return said.some(({ from }) => spans.some((span) => from >= span.from && from < span.to)) ? 1 : nearest
}

function nearness(time: number, { from, to }: TimeSpan): number {
  if (time >= from && time < to) return 1
  const half = (to - from) / 2
  const distance = time < from ? from - time : time - to
  return distance < half ? 0.5 * (1 - distance / half) : 0
}

const languages = [...Object.keys(timeWords), ...Object.keys(unspacedTimeWords)] as (Language | UnspacedLanguage)[]

/** The words as the rules of a language look at them. */
function joined(language: Language | UnspacedLanguage, words: readonly string[]): string {
  return language === 'zh' || language === 'ja' ? words.join('') : ` ${words.join(' ')} `
}

function timesOf(
  language: Language | UnspacedLanguage,
  words: readonly string[],
  dates: readonly TimeSpan[],
  now: number,
  isAlone = false,
): readonly SaidTime[] {
  const text = joined(language, words)
  const grammar = grammarOf(language)
  if (dates.length === 0 && !grammar.hint.test(text)) return []
  const taken: (readonly [start: number, end: number])[] = []
  const found: SaidTime[] = []
  for (const { pattern, read } of [...grammar.rules, ...dateRules(dates, grammar)])
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length]
      if (found.length === mostTimes || taken.some(([from, to]) => start < to && end > from)) continue
      const meaning = read(match.groups ?? {}, now, isAlone)
      if (!meaning) continue
      taken.push([start, end])
      found.push(saidTime(meaning, match, now))
    }
  return found
}

function saidTime(
  { spans, start, isRelative = false, isPeriod = false }: Meaning,
  match: RegExpMatchArray,
  now: number,
) {
  const { since, before } = match.groups ?? {}
  const bounded = spans.map(({ from, to }) =>
    since !== undefined
      ? { from, to: Math.max(to, now + dayMs) }
      : before !== undefined
        ? { from: 0, to: from }
        : { from, to },
  )
  return {
    /** One stretch, or two where "on Friday" may be the last one and the next. */
    spans: bounded,
    /** The moment that counts as its beginning. */
    start: start ?? spans[0]!.from,
    /** Its words, as the index has them, apart by spaces. */
    words: match[0].trim(),
    /** Whether its words refer to the present, as "last week" does; a month or a date does not. */
    isRelative,
    /** Whether it is a season or a feast, which a memory from then seldom names. */
    isPeriod,
  }
}

function read(text: string, now: number) {
  const dates: TimeSpan[] = []
  const replaced = (whole: string, day: string | undefined, month: string, year: string) => {
    const at = Number(month) - 1
    const span =
      day === undefined
        ? at >= 0 && at < 12
          ? monthSpan(Number(year), at)
          : undefined
        : dateSpan(now, Number(day), at, Number(year))
    return span ? ` isodate${dates.push(span) - 1} ` : whole
  }
  const rest = unified(text)
    .replace(/(?<![\d.-])((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?![\d-])/g, (whole, year, month, day) =>
      replaced(whole, day, month, year),
    )
    .replace(/(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)\d\d)(?!\d)/g, (whole, day, month, year) =>
      replaced(whole, day, month, year),
    )
  /** As `plain` writes them; dates in digits are words of their own, `isodate0` and so on. */
  const words = wordsOf(rest).map(plain)
  return { words, dates, language: languageOf(text, words) }
}

function dateRules(dates: readonly TimeSpan[], { limits: [before, behind] }: Grammar): readonly Rule[] {
  return dates.map((span, at) => ({
    pattern: new RegExp(`${before}isodate${at}(?!\\d)${behind}`, 'gu'),
    read: () => ({ spans: [span] }),
  }))
}
