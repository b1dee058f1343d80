import type { Memories } from './memories.ts'

/** Background work beside the requests. */
export type Maintenance = ReturnType<typeof startMaintenance>

/** Milliseconds between two rounds: an expired memory stays on the disk so long at the most. */
const pause = 3_600_000

/**
 * Removes expired memories and unfinished removals of earlier processes, at the start and at intervals. No read shows them
 * before. A round that fails is tried again with the next.
 */
export function startMaintenance(memories: Pick<Memories, 'maintain'>) {
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = round()
  return {
    /** Ends it; resolves after the last write. */
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
