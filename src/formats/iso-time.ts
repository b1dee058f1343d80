/**
 * The time of an ISO 8601 day, or of a day and a time, in milliseconds since 1970 UTC. One without a zone is in UTC, as
 * aichat shows all times, wherever it is read. Undefined for any other text and for a day that no calendar has: Date.parse
 * takes 30 February for 1 March.
 */
export function isoTime(text: string): number | undefined {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d.*))?$/.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const isLocal = clock !== undefined && /^\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/.test(clock)
  const time = Date.parse(isLocal ? `${day}T${clock.replace(',', '.')}Z` : text)
  return Number.isNaN(time) ? undefined : time
}

function isDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
