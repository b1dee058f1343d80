import { z } from 'zod'
import { isoTime } from '../formats/iso-time.ts'
import { timeForms, timeFromText } from '../personas/memory/time-words.ts'

/** A flag: `?name=true` in a query, `true` in process. */
export const queryFlag = z.union([z.boolean(), z.stringbool()], 'must be true or false').default(false)

/** Items of one answer, as a number or a query value. */
const pageLimit = z.coerce.number().int().min(1).max(1000)

/** The fields that choose a page of a list. */
export const page = { limit: pageLimit.default(100), offset: z.coerce.number().int().min(0).default(0) }

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
