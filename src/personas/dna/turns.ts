/** Items that are made between two turns of everybody else: some milliseconds' work. */
const itemsAtOnce = 200

/** All items of what makes them one by one, at some cost: others are served in between, and an aborted `signal` ends it. */
export async function collected<T>(items: Iterable<T>, signal?: AbortSignal): Promise<readonly T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % itemsAtOnce > 0) continue
    await new Promise(setImmediate)
    signal?.throwIfAborted()
  }
  return all
}
