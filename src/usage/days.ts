/** The day of a moment in one time zone. */
export type Days = ReturnType<typeof createDays>

/** Milliseconds. */
const quarterMs = 900_000

/** Days in an IANA zone, kept for a quarter of an hour (all zones' offsets are such). RangeError for an unknown one. */
export function createDays(zone: string) {
  const read = reader(zone)
  let quarter = Number.NaN
  let day = ''
  return {
    /** `2026-11-22`. The moment is milliseconds since 1970 UTC. */
    dayOf(at: number): string {
      const asked = Math.floor(at / quarterMs)
      if (asked === quarter) return day
      quarter = asked
      day = read(at)
      return day
    },
  }
}

/** UTC needs no `Intl`: loading its time zones takes a command ten milliseconds. */
function reader(zone: string): (at: number) => string {
  if (zone === 'UTC') return (at) => new Date(at).toISOString().slice(0, 10)
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (at) => format.format(at)
}

const hourMs = 3_600_000

/** The first moment of a day such as `2026-11-22`: milliseconds since 1970 UTC. */
export function startOf(days: Days, day: string): number {
  // No zone is further than 14 hours ahead of UTC.
  let at = Date.parse(day) - 14 * hourMs
  while (days.dayOf(at) < day) at += quarterMs
  return at
}

/** The day after one. */
export function nextDay(day: string): string {
  return new Date(Date.parse(day) + 24 * hourMs).toISOString().slice(0, 10)
}
