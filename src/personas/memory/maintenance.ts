import type { Memories } from './memories.ts'

/** Work that goes on beside the requests. */
export interface Maintenance {
  /** Ends it; resolves when nothing is written any more. */
  close(): Promise<void>
}

/** Milliseconds between two rounds: a memory that has outlived its days is on the disk so long at the most. */
const pause = 3_600_000

/**
 * Removes now and then, and at the start, what has outlived its days and what an earlier process had begun to remove. No
 * read shows any of it before. A round that fails is tried again with the next.
 */
export function startMaintenance(memories: Pick<Memories, 'maintain'>): Maintenance {
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = round()
  return {
    async close() {
      stop.abort()
      clearTimeout(timer)
      await running
    },
  }

  async function round(): Promise<void> {
    await memories.maintain(stop.signal).catch(() => undefined)
    if (stop.signal.aborted) return
    timer = setTimeout(() => {
      running = round()
    }, pause)
    timer.unref()
  }
}
