/** The day of a moment in one time zone. */
export interface Days {
  /** `2026-11-22`. The moment is milliseconds since 1970 UTC. */
  dayOf(at: number): string
}

/** Milliseconds. */
const quarterMs = 900_000

/**
 * Days in an IANA zone such as `Europe/Berlin`. Zones differ from UTC by whole quarters of an hour, so the answer is kept
 * for a quarter. Throws RangeError for an unknown zone.
 */
export function createDays(zone: string): Days {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  let quarter = Number.NaN
  let day = ''
  return {
    dayOf(at) {
      const asked = Math.floor(at / quarterMs)
      if (asked === quarter) return day
      quarter = asked
      day = format.format(at)
      return day
    },
  }
}
