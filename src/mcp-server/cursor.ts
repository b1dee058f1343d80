import { AppError } from '../errors.ts'

/**
 * A place in a list that is sorted newest first: after so many memories of that time (milliseconds since 1970 UTC). Memories
 * that are added meanwhile move no page.
 */
interface Place {
  readonly timestamp: number
  readonly skipped: number
}

/** The place that a cursor names; undefined for the beginning. Throws `invalid`. */
export function readCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const [, timestamp, skipped] = /^(\d{1,15})\.(\d{1,7})$/.exec(cursor) ?? []
  if (timestamp !== undefined && skipped !== undefined)
    return { timestamp: Number(timestamp), skipped: Number(skipped) }
  throw new AppError('invalid', 'Invalid cursor: give the next_cursor of the page before, or none')
}

/** The cursor behind the last of these memories, which began at `from`. */
export function cursorAfter(
  memories: readonly { readonly timestamp: number }[],
  from: Place | undefined,
): string | undefined {
  const last = memories.at(-1)?.timestamp
  if (last === undefined) return undefined
  const same = memories.filter(({ timestamp }) => timestamp === last).length
  return `${last}.${same + (from?.timestamp === last ? from.skipped : 0)}`
}
