export type PeriodKind = 'day' | 'week' | 'month'

/** A period in milliseconds since 1970 UTC; the end is the start of the next one. Its days are such as `2026-11-30`. */
export type Period = ReturnType<typeof periodAt>

/** The period that a moment is in, by the calendar of a time zone. */
export type Periods = (kind: PeriodKind, zone: string, at: number) => Period

const dayMs = 86_400_000

/** The IANA name of a time zone as the system writes it; undefined for an unknown one, and for a bare offset. */
export function zoneName(text: string): string | undefined {
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/**
 * Days begin at 00:00, weeks on Monday, months on the 1st, each with the first moment of its date: at 01:00 where 00:00 is
 * left out for summer time. Periods are remembered: most calls cost a look-up.
 */
export function createPeriods(): Periods {
  const known = new Map<string, Period>()
  const dates = new Map<string, (at: number) => number>()
  return (kind, zone, at) => {
    const name = `${kind} ${zone}`
    const last = known.get(name)
    if (last && last.start <= at && at < last.end) return last
    let dateOf = dates.get(zone)
    if (!dateOf) {
      dateOf = datesIn(zone)
      dates.set(zone, dateOf)
    }
    const found = periodAt(kind, dateOf, at)
    known.set(name, found)
    return found
  }
}

function periodAt(kind: PeriodKind, dateOf: (at: number) => number, at: number) {
  const [first, next] = datesOf(kind, dateOf(at))
  return {
    start: firstMoment(dateOf, first),
    end: firstMoment(dateOf, next),
    days: { first: dayText(first), last: dayText(next - dayMs) },
  }
}

/** The first date of a period and of the next one; dates are midnights in UTC. */
function datesOf(kind: PeriodKind, date: number): readonly [first: number, next: number] {
  if (kind === 'day') return [date, date + dayMs]
  const calendar = new Date(date)
  if (kind === 'week') {
    const monday = date - ((calendar.getUTCDay() + 6) % 7) * dayMs
    return [monday, monday + 7 * dayMs]
  }
  const [year, month] = [calendar.getUTCFullYear(), calendar.getUTCMonth()]
  return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
}

function dayText(date: number): string {
  return new Date(date).toISOString().slice(0, 10)
}

/** Tells the date of a moment in a zone, as midnight of that date in UTC. */
function datesIn(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  return (at) => {
    const parts = { year: 0, month: 0, day: 0 }
    for (const { type, value } of format.formatToParts(at)) if (type in parts) parts[type as 'day'] = Number(value)
    return Date.UTC(parts.year, parts.month - 1, parts.day)
  }
}

/** No zone is further from UTC than 14 hours. */
const furthestMs = 16 * 3_600_000

/** The first moment of a date, to the millisecond; of the next date where the zone left that one out. */
function firstMoment(dateOf: (at: number) => number, date: number): number {
  let before = date - furthestMs
  let from = date + furthestMs
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (dateOf(middle) < date) before = middle
    else from = middle
  }
  return from
}
