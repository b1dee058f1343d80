import type { Bag } from '../process/bag.ts'

/** How long a service serves before it looks for a moment without a request, and between two looks: milliseconds. */
const lookMs = 1000

/**
 * Does a piece of work that blocks the event loop once, at the first look that finds no request under way: neither the
 * start nor an answer waits for it. Failures are left to the first request that needs the work. Returns a function that
 * cancels it.
 */
export function whenIdle(open: Pick<Bag<unknown>, 'size'>, work: () => Promise<unknown>): () => void {
  const timer = setInterval(() => {
    if (open.size > 0) return
    clearInterval(timer)
    work().catch(() => undefined)
  }, lookMs).unref()
  return () => clearInterval(timer)
}
