import { timeFromText } from '../../personas/personas.ts'
import { localIsoTime, ofLocalClock } from './times.ts'

/** Reads a time from a user as `timeFromText` does, with days and hours of the local clock where the text names no zone. */
export function localTimeFromText(text: string, now = Date.now()): number | undefined {
  const trimmed = text.trim()
  const iso = localIsoTime(trimmed)
  if (iso !== undefined) return iso
  const isOfNoClock = /^-?\d+$/.test(trimmed) && !/^(?:19[789]|20\d)\d$/.test(trimmed)
  const isAge = /^\d+(?:\.\d+)?\s*[smhdw]$/.test(trimmed)
  if (isOfNoClock || isAge) return timeFromText(trimmed, now)
  // Words are read on a clock in UTC that shows the local time.
  const shifted = timeFromText(trimmed, now - new Date(now).getTimezoneOffset() * 60_000)
  return shifted === undefined ? undefined : ofLocalClock(shifted)
}

/** The fields of a request with these as times of the local clock; a text that is none stays, for the operation to refuse. */
export function withLocalTimes<F extends object>(fields: F, names: readonly (keyof F)[]): F {
  const read = names.flatMap((name) => {
    const value = fields[name]
    const time = typeof value === 'string' ? localTimeFromText(value) : undefined
    return time === undefined ? [] : [[name, Math.max(0, time)]]
  })
  return { ...fields, ...Object.fromEntries(read) }
}
