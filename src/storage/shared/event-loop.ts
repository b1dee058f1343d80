/** Lets the event loop run other work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Leaves the database to others for as long as a slice of work took, in milliseconds: writers that wait in another process look
 * again only now and then.
 */
export function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(longestRest, Math.ceil(ms))))
}

/** Milliseconds. */
const longestRest = 200
