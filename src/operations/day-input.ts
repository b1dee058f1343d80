import { z } from 'zod'
import { isoTime } from '../formats/formats.ts'
import { timeForms, timeFromText } from '../personas/personas.ts'

/** The last moment that a date can tell: milliseconds since 1970 UTC. */
const latest = 8.64e15

const timeRule = `must be ${timeForms}`

/** A day such as `2026-11-22` in the time zone of usage, or a time in milliseconds since 1970 UTC. */
export const day = z
  .union([z.int().min(0).max(latest), z.string().trim().min(1).max(100)], timeRule)
  .transform((given, context) => {
    if (typeof given === 'number') return given
    if (/^\d{4}-\d\d-\d\d$/.test(given) && isoTime(given) !== undefined) return given
    const time = timeFromText(given, Date.now())
    if (time !== undefined && time >= 0 && time <= latest) return time
    context.addIssue(timeRule)
    return z.NEVER
  })
