import { utimesSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../formats/formats.ts'
import { dropLock, lockMark, tryLock } from '../storage/storage.ts'

export interface PullLock {
  release(): void
}

/** Interval of the holder's heartbeat, and the age after which it counts as dead: milliseconds. */
const heartbeatMs = 5_000
const staleMs = 30_000
const askAgainMs = 250

/**
 * Locks a model across processes and within one, waiting for its holder; calls `onWait` once when there is a wait.
 * The lock of a process that has died is taken over.
 */
export async function takePullLock(
  path: string,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly onWait?: (() => void) | undefined
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  },
): Promise<PullLock> {
  const mark = lockMark()
  makeFolder(dirname(path))
  for (let tries = 0; !tryLock(path, mark, staleMs); tries++) {
    if (tries === 1) options.onWait?.()
    await options.sleep(askAgainMs, options.signal)
  }
  const heartbeat = setInterval(() => touch(path), heartbeatMs)
  heartbeat.unref()
  return {
    release() {
      clearInterval(heartbeat)
      dropLock(path, mark)
    },
  }
}

function touch(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    return
  }
}
