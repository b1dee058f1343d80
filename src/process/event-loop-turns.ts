/** Lets the event loop run other work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Leaves the database to others for as long as a slice took, in milliseconds: they look only now and then. */
export function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(longestRest, Math.ceil(ms))))
}

/** Milliseconds. */
const longestRest = 200

/** Items between two turns of the event loop: some milliseconds' work. */
const itemsPerTurn = 200

/** Collects an iterable that is costly to produce, yielding to the event loop every 200 items. Throws the signal's reason when it is aborted. */
export async function collectYielding<T>(items: Iterable<T>, signal?: AbortSignal): Promise<readonly T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % itemsPerTurn > 0) continue
    await yieldToEventLoop()
    signal?.throwIfAborted()
  }
  return all
}
