import type { Language, UnspacedLanguage } from './language-words.ts'
import { plain } from './ranking-terms.ts'
import {
  dateSpan,
  daySpan,
  latestMonth,
  momentAgo,
  monthSpan,
  periodSpan,
  spanAgo,
  type TimeSpan,
  type TimeUnit,
  unitSpan,
  weekdaySpans,
} from './time-spans.ts'
import { type TimeWords, timeWords, type UnspacedTimeWords, unspacedTimeWords } from './time-word-lists.ts'

/** The times that a rule reads in a match; undefined where it is no time after all. */
export interface Meaning {
  readonly spans: readonly TimeSpan[]
  readonly start?: number
  readonly isRelative?: boolean
  readonly isPeriod?: boolean
}

type Groups = Readonly<Record<string, string | undefined>>

export interface Rule {
  readonly pattern: RegExp
  /** @param isAlone whether the text is a time and nothing else, in which "May" is the month */
  read(groups: Groups, now: number, isAlone: boolean): Meaning | undefined
}

/** How a language says times. */
export interface Grammar {
  readonly rules: readonly Rule[]
  /** Matches in every text with a time of the language, and in some others: far faster than the rules. */
  readonly hint: RegExp
  /** Words that bound a time, before it and behind it. */
  readonly limits: readonly [before: string, behind: string]
}

const grammars = new Map<string, Grammar>()

/** The grammar of a language, compiled at its first use. */
export function grammarOf(language: Language | UnspacedLanguage): Grammar {
  let grammar = grammars.get(language)
  if (!grammar) {
    grammar = isUnspaced(language)
      ? unspacedGrammar(unspacedTimeWords[language])
      : spacedGrammar(mapped(timeWords[language]))
    grammars.set(language, grammar)
  }
  return grammar
}

/** Whether a language is written without spaces between words, or with particles that join them. */
export function isUnspaced(language: Language | UnspacedLanguage): language is UnspacedLanguage {
  return language === 'zh' || language === 'ja' || language === 'ko'
}

/**
 * The rules of a language with spaces between words, the longer phrases before the shorter ones.
 * @param words without diacritics
 */
function spacedGrammar(words: TimeWords): Grammar {
  const list = (source: string, gap: string) => source.split(gap).map((each) => each.replaceAll('_', ' '))
  const numbers = list(words.numbers, ',')
  const months = list(words.months, ' ')
  const weekdays = list(words.weekdays, ' ')
  const periods = list(words.periods, ' ')
  const { day, week, month, year, weekend } = words
  const units = `(?:(?<weekend>${weekend})|(?<day>${day})|(?<week>${week})|(?<month>${month})|(?<year>${year}))`
  const counted = `(?:(?<n>\\d{1,3}|${numbers.join('|')}) )?${units}`
  const { last, this: present, next, since, before, in: inside } = words
  const limits = since === '' ? '' : `(?:(?<since>${since}) |(?<before>${before}) )?`
  const article = '(?:(?:the|der|die|das|dem|den|la|le|el|il|lo|o|a|de|het) )?'
  const which = `(?:(?<last>${last})|(?<this>${present})|(?<next>${next}))`
  const behind = `(?:(?<lastBehind>${last})|(?<nextBehind>${next}))`
  // A Turkish month stands before its case ending, as "martta"; other languages put a preposition before it.
  const marked = inside === '' ? '(?<ending>[td][ae]n?| ay\\p{L}*)?' : ''
  const preposition = inside === '' ? '' : `(?:(?<in>${inside}) )?`
  const named = (all: readonly string[], name: string) => `(?<${name}>${all.join('|')})`
  const ofYear = '(?: (?:de |del |d )?(?<year>(?:19|20)\\d\\d))?'
  const date = `(?:(?<day>\\d{1,2})(?:st|nd|rd|th|er|e)? (?:of |de |di )?)?`
  const phrases = (source: string) => list(source, ',').map((each) => each.replace('#', counted))
  const word = (source: string, distance: number): Rule =>
    rule(`${limits}(?:${source})`, (_groups, now) => ({ spans: [daySpan(now, distance)], isRelative: true }))
  const single = [words.today, words.yesterday, words.dayBefore, words.tomorrow]
  const known = [
    ...single,
    day,
    week,
    month,
    year,
    weekend,
    ...months.map((name) => `(?:${name})[td]?\\p{L}{0,2}`),
    ...weekdays,
    ...periods,
  ]
  const rules = [
    ...phrases(words.ago).map((phrase) => rule(phrase, (groups, now) => ago(groups, numbers, now))),
    ...phrases(words.recent).map((phrase) => rule(phrase, (groups, now) => recent(groups, numbers, now))),
    rule(
      `${limits}${preposition}${article}(?:${which} )?${date}${named(months, 'monthName')}${marked}(?: (?<dayBehind>\\d{1,2})(?:st|nd|rd|th)?(?= ))?${ofYear}(?: ${behind})?`,
      (groups, now, isAlone) => monthRead(groups, months, now, isAlone),
    ),
    rule(
      `${limits}${preposition}${article}(?:${which} )?${named(weekdays, 'weekdayName')}(?: ${behind})?`,
      (groups, now, isAlone) => weekdayRead(groups, weekdays, now, isAlone || inside === ''),
    ),
    rule(`${limits}${preposition}${article}${which} ${units}`, whichRead),
    rule(`${limits}${preposition}${article}${units} ${behind}`, whichRead),
    rule(`${limits}${preposition}${article}(?:${which} )?${named(periods, 'period')}(?: ${behind})?`, (groups, now) =>
      periodRead(groups, periods, now),
    ),
    // "At the weekend", the last one or the coming.
    ...(inside === ''
      ? []
      : [rule(`${limits}(?:${inside}) ${article}(?:${weekend})`, (_groups, now) => aWeekend(now))]),
    word(words.dayBefore, -2),
    word(words.yesterday, -1),
    word(words.today, 0),
    word(words.tomorrow, 1),
    rule(`${limits}${preposition}(?<year>(?:19[789]|20\\d)\\d)`, ({ year }) => ({
      spans: [monthSpan(Number(year), 0, 12)],
    })),
  ]
  return { rules, hint: withinWords(`${known.join('|')}|\\d{4}`, 'u'), limits: [limits, ''] }
}

/** The alternatives of a language without diacritics. */
function mapped(words: TimeWords): Record<keyof TimeWords, string> {
  return Object.fromEntries(Object.entries(words).map(([name, source]) => [name, plain(source)])) as never
}

function rule(source: string, read: Rule['read']): Rule {
  return { pattern: withinWords(source, 'gu'), read }
}

/**
 * A pattern of whole words in a text of words alone. What is neither a space nor a digit stands for their letters: the class of
 * all letters takes V8 a millisecond each time it is in a pattern, and a short query tries all languages.
 */
function withinWords(source: string, flags: string): RegExp {
  return new RegExp(`(?<= )(?:${source.replaceAll(String.raw`\p{L}`, String.raw`[^ \d]`)})(?= )`, flags)
}

const unitNames = ['day', 'week', 'month', 'year', 'weekend'] as const

function unitOf(groups: Groups): TimeUnit {
  return unitNames.find((name) => groups[name] !== undefined) ?? 'day'
}

/** The number of a group `n`; 1 where there is none, as in "rok temu". */
function numberOf({ n }: Groups, numbers: readonly string[]): number {
  if (n === undefined) return 1
  const at = numbers.findIndex((each) => new RegExp(`^(?:${each})$`, 'u').test(n))
  return at >= 0 ? at + 1 : Number(n)
}

function ago(groups: Groups, numbers: readonly string[], now: number): Meaning {
  const { at, ...span } = spanAgo(now, numberOf(groups, numbers), unitOf(groups))
  return { spans: [span], start: at, isRelative: true }
}

function recent(groups: Groups, numbers: readonly string[], now: number): Meaning | undefined {
  // Without a number it is "last week", which is another rule's.
  if (groups['n'] === undefined) return undefined
  return { spans: [{ from: momentAgo(now, numberOf(groups, numbers), unitOf(groups)), to: now }], isRelative: true }
}

function distanceOf(groups: Groups): number {
  if (groups['last'] !== undefined || groups['lastBehind'] !== undefined) return -1
  return groups['next'] !== undefined || groups['nextBehind'] !== undefined ? 1 : 0
}

function whichRead(groups: Groups, now: number): Meaning | undefined {
  const unit = unitOf(groups)
  return unit === 'day' ? undefined : { spans: [unitSpan(now, unit, distanceOf(groups))], isRelative: true }
}

function placeOf(name: string, names: readonly string[]): number {
  return names.findIndex((each) => new RegExp(`^(?:${each})$`, 'u').test(name))
}

/** Whether something beside a name says that it is meant as a time. */
function isMarked(groups: Groups): boolean {
  const marks = ['in', 'since', 'before', 'last', 'this', 'next', 'lastBehind', 'nextBehind', 'ending']
  return marks.some((name) => groups[name] !== undefined)
}

function monthRead(groups: Groups, months: readonly string[], now: number, isAlone: boolean): Meaning | undefined {
  const month = placeOf(groups['monthName']!, months)
  const year = groups['year'] === undefined ? undefined : Number(groups['year'])
  const day = groups['day'] ?? groups['dayBehind']
  if (day !== undefined) {
    const span = dateSpan(now, Number(day), month, year)
    return span && { spans: [span] }
  }
  if (year !== undefined) return { spans: [monthSpan(year, month)] }
  if (!isAlone && !isMarked(groups)) return undefined
  const span = latestMonth(now, month)
  return { spans: [distanceOf(groups) > 0 ? monthSpan(new Date(span.from).getUTCFullYear() + 1, month) : span] }
}

function aWeekend(now: number): Meaning {
  return { spans: [unitSpan(now, 'weekend', -1), unitSpan(now, 'weekend', 0)], isRelative: true }
}

/** A season or a feast; the words "fall" and "été" are others where nothing marks them as a time. */
function periodRead(groups: Groups, periods: readonly string[], now: number): Meaning | undefined {
  if (!isMarked(groups)) return undefined
  const span = periodSpan(now, placeOf(groups['period']!, periods), distanceOf(groups))
  return { spans: [span], isPeriod: true }
}

function weekdayRead(groups: Groups, weekdays: readonly string[], now: number, isPlain: boolean): Meaning | undefined {
  if (!isPlain && !isMarked(groups)) return undefined
  const { last, next } = weekdaySpans(now, placeOf(groups['weekdayName']!, weekdays))
  const distance = distanceOf(groups)
  if (distance !== 0) return { spans: [distance < 0 ? last : next], isRelative: true }
  // "The cake on Friday" may be that of every Friday, and a memory of it says so.
  return { spans: [last, next] }
}

/** The rules of a language without spaces. */
function unspacedGrammar(words: UnspacedTimeWords): Grammar {
  const numbers = words.numbers.split(',')
  // The longer ones first: 十一 begins with 十.
  const number = [...numbers].reverse().join('|')
  const { units, dates } = words
  const counted = `(?<n>\\d{1,3}|${number}) ?(?:(?<week>${units.week})|(?<month>${units.month})|(?<year>${units.year})|(?<day>${units.day}))`
  const limits = `(?:(?<since>${words.since})|(?<before>${words.before}))?`
  const make = (source: string, read: Rule['read']): Rule => ({ pattern: new RegExp(source, 'gu'), read })
  const word = (source: string, distance: number) =>
    make(`(?:${source})${limits}`, (_groups, now) => ({ spans: [daySpan(now, distance)], isRelative: true }))
  const unit = (named: UnspacedTimeWords['last'], distance: number) =>
    Object.entries(named).map(([name, source]) =>
      make(`(?:${source})${limits}`, (_groups, now) => ({
        spans: [unitSpan(now, name as TimeUnit, distance)],
        isRelative: true,
      })),
    )
  const [year, month, day] = dates
  const named = numbers.map((each) => each.replace(/\|?[几幾数몇]/gu, ''))
  const monthNumber = `(?<month>1[0-2]|0?[1-9]|${[...named].reverse().join('|')})`
  const rules = [
    make(words.ago.replace('#', counted), (groups, now) => ago(groups, numbers, now)),
    make(words.recent.replace('#', counted), (groups, now) => recent(groups, numbers, now)),
    make(
      `(?:(?<year>(?:19|20)\\d\\d)${year} ?)?(?<![\\d个個])${monthNumber} ?${month}(?: ?(?<day>[12]\\d|3[01]|0?[1-9]) ?${day})?${limits}`,
      (groups, now) => {
        const at = Math.max(placeOf(groups['month']!, named), Number(groups['month']) - 1 || 0)
        const ofYear = groups['year'] === undefined ? undefined : Number(groups['year'])
        const span =
          groups['day'] !== undefined
            ? dateSpan(now, Number(groups['day']), at, ofYear)
            : ofYear === undefined
              ? latestMonth(now, at)
              : monthSpan(ofYear, at)
        return span && { spans: [span] }
      },
    ),
    make(`(?<!\\d)(?<year>(?:19[789]|20\\d)\\d)(?:${year})?(?![\\d])${limits}`, (groups) => ({
      spans: [monthSpan(Number(groups['year']), 0, 12)],
    })),
    ...unit(words.last, -1),
    ...unit(words.this, 0),
    ...unit(words.next, 1),
    word(words.dayBefore, -2),
    word(words.yesterday, -1),
    word(words.today, 0),
    word(words.tomorrow, 1),
  ]
  const known = [words.today, words.yesterday, words.dayBefore, words.tomorrow, ...Object.values(units), ...dates]
  const single = [words.last, words.this, words.next].flatMap((named) => Object.values(named) as string[])
  return { rules, hint: new RegExp([...known, ...single, '\\d{4}'].join('|'), 'u'), limits: ['', limits] }
}
