/** A stretch of time: from its first moment to the one before which it ends. Milliseconds since 1970 UTC. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** A unit of the calendar that words name. */
export type TimeUnit = 'day' | 'week' | 'month' | 'year' | 'weekend'

export const dayMs = 86_400_000

/** Later than any memory. */
export const endOfTime = 8.64e15

/** The days from one at a distance of another. Days, weeks, months and years are those of UTC, as everywhere in aichat. */
export function daySpan(now: number, distance: number, days = 1): TimeSpan {
  const from = (Math.floor(now / dayMs) + distance) * dayMs
  return { from, to: from + days * dayMs }
}

/** The calendar's unit by its distance from the present one: week -1 is the one that ended with the last Sunday. */
export function unitSpan(now: number, unit: TimeUnit, distance: number): TimeSpan {
  const date = new Date(now)
  const sinceMonday = (date.getUTCDay() + 6) % 7
  if (unit === 'day') return daySpan(now, distance)
  if (unit === 'week') return daySpan(now, 7 * distance - sinceMonday, 7)
  // On a Saturday or Sunday the present weekend has begun; on another day it is the coming one.
  if (unit === 'weekend') return daySpan(now, 7 * distance - sinceMonday + 5, 2)
  const year = date.getUTCFullYear()
  return unit === 'month' ? monthSpan(year, date.getUTCMonth() + distance) : monthSpan(year + distance, 0, 12)
}

/** @param month from 0; others than 0 to 11 are of the years around */
export function monthSpan(year: number, month: number, months = 1): TimeSpan {
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + months) }
}

/** The last month of that number, from 0, that has begun. */
export function latestMonth(now: number, month: number): TimeSpan {
  const date = new Date(now)
  return monthSpan(date.getUTCFullYear() - (date.getUTCMonth() < month ? 1 : 0), month)
}

/** A day of the calendar; undefined where there is none, such as 31 April. Without a year the last one that has begun. */
export function dateSpan(now: number, day: number, month: number, year?: number): TimeSpan | undefined {
  const at = (chosen: number) => {
    const from = Date.UTC(chosen, month, day)
    return new Date(from).getUTCDate() === day && new Date(from).getUTCMonth() === month ? daySpan(from, 0) : undefined
  }
  const present = new Date(now).getUTCFullYear()
  if (year !== undefined) return at(year)
  const thisYear = at(present)
  return thisYear && thisYear.from <= now ? thisYear : at(present - 1)
}

/** The days of a name around now: the last one before today, and the coming one, which may be today. @param day from Monday, 0 */
export function weekdaySpans(now: number, day: number): { readonly last: TimeSpan; readonly next: TimeSpan } {
  const today = (new Date(now).getUTCDay() + 6) % 7
  const ahead = (day - today + 7) % 7
  return { last: daySpan(now, ahead - 7), next: daySpan(now, ahead) }
}

/** So many units before now: around that day, wider for larger units, since "months ago" is not counted in days. */
export function spanAgo(now: number, count: number, unit: TimeUnit): TimeSpan & { readonly at: number } {
  const { from: at } = daySpan(momentAgo(now, count, unit), 0)
  const before = { day: count > 4 ? 1 : 0, week: 3, weekend: 3, month: 15, year: 182 }[unit]
  return { from: at - before * dayMs, to: at + (before + 1) * dayMs, at }
}

/** The moment so many units before now. */
export function momentAgo(now: number, count: number, unit: TimeUnit): number {
  if (unit === 'day') return now - count * dayMs
  if (unit === 'week' || unit === 'weekend') return now - 7 * count * dayMs
  const date = new Date(now)
  const months = unit === 'month' ? count : 12 * count
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, date.getUTCDate()) + (now % dayMs)
}

/** What returns each year, in the order of `TimeWords.periods`: from a day on, so many days. Seasons are those of the north. */
const periods: readonly (readonly [month: number, day: number, days: number])[] = [
  [2, 1, 92],
  [5, 1, 92],
  [8, 1, 91],
  [11, 1, 90],
  [11, 20, 12],
  [11, 30, 4],
  [0, 0, 5],
  [9, 30, 3],
]
const easter = 6

/** A season or feast by distance from the last that has begun; -1 is before that, as "last summer" in July. */
export function periodSpan(now: number, period: number, distance: number): TimeSpan {
  const [month, day, days] = periods[period]!
  const spanIn = (year: number) =>
    daySpan(period === easter ? easterSunday(year) - 3 * dayMs : Date.UTC(year, month, day), 0, days)
  const year = new Date(now).getUTCFullYear()
  const latest = spanIn(year).from <= now ? year : year - 1
  if (distance > 0) return spanIn(latest + 1)
  return spanIn(distance < 0 && spanIn(latest).to > now ? latest - 1 : latest)
}

/** Easter Sunday of the Gregorian calendar, by the algorithm of Meeus ("Astronomical Algorithms", 1991, chapter 8). */
function easterSunday(year: number): number {
  const century = Math.floor(year / 100)
  const golden = year % 19
  const epact = (19 * golden + century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 15) % 30
  const moon = epact - Math.floor((golden + 11 * epact) / 319)
  const weekday = (2 * (century % 4) + 2 * Math.floor((year % 100) / 4) - (year % 4) - moon + 32) % 7
  const month = Math.floor((moon + weekday + 90) / 25)
  return Date.UTC(year, month - 1, (moon + weekday + month + 19) % 32)
}
