/** Items between two turns of the event loop: some milliseconds' work. */
const itemsPerTurn = 200

/** Collects an iterable that is costly to produce, yielding to the event loop every 200 items. Throws the signal's reason when it is aborted. */
export async function collectYielding<T>(items: Iterable<T>, signal?: AbortSignal): Promise<readonly T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % itemsPerTurn > 0) continue
    await new Promise(setImmediate)
    signal?.throwIfAborted()
  }
  return all
}
