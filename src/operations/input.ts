import { z } from 'zod'

/** A flag: `?name=true` in a query, `true` in process. */
export const queryFlag = z.union([z.boolean(), z.stringbool()], 'must be true or false').default(false)

/** Items of one answer, as a number or a query value. */
const pageLimit = z.coerce.number().int().min(1).max(1000)

/** The fields that choose a page of a list. */
export const page = { limit: pageLimit.default(100), offset: z.coerce.number().int().min(0).default(0) }
