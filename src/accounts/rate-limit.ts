import { AppError } from '../errors.ts'
import { waitText } from '../formats/formats.ts'

/** The most keys that are remembered; the oldest go first. */
const capacity = 50_000

/** So many a window (milliseconds) for each key; `now` only goes forward. */
export function createRateLimit(
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  now: () => number,
) {
  const windows = new Map<string, { readonly began: number; count: number }>()
  return {
    /** Counts one more; throws `rate_limited` beyond the limit. */
    take(key: string) {
      const window = windows.get(key)
      if (window && window.began + windowMs > now()) {
        if (++window.count <= limit) return
        const wait = Math.max(1, Math.ceil((window.began + windowMs - now()) / 1000))
        throw new AppError('rate_limited', 'Too many requests', {
          details: [`Try again in ${waitText(wait)}`],
          retryAfter: wait,
        })
      }
      windows.delete(key)
      windows.set(key, { began: now(), count: 1 })
      if (windows.size > capacity) windows.delete(windows.keys().next().value!)
    },
  }
}
