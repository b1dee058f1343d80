import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

export interface PullLock {
  release(): void
}

/** Interval of the holder's heartbeat, and the age after which it counts as dead: milliseconds. */
const heartbeatMs = 5_000
const staleMs = 30_000
const askAgainMs = 250

/**
 * Locks a model across processes, waiting for its holder; calls `onWait` once when there is a wait.
 * The lock of a process that has died is taken over.
 */
export async function takePullLock(
  path: string,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly onWait?: () => void
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  },
): Promise<PullLock> {
  const mark = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (let tries = 0; !tryTake(path, mark); tries++) {
    if (tries === 1) options.onWait?.()
    await options.sleep(askAgainMs, options.signal)
  }
  const heartbeat = setInterval(() => touch(path), heartbeatMs)
  heartbeat.unref()
  return {
    release() {
      clearInterval(heartbeat)
      // The lock was taken over by another process.
      if (read(path) === mark) rmSync(path, { force: true })
    },
  }
}

function tryTake(path: string, mark: string): boolean {
  try {
    writeFileSync(path, mark, { flag: 'wx', mode: 0o600 })
    return true
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') throw reason
  }
  const held = read(path)
  if (held !== undefined && isStale(path, held)) takeAway(path, held)
  return false
}

/** Removes a dead holder's lock. Two may try it at once: the one that took a living holder's lock puts it back. */
function takeAway(path: string, held: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
    if (read(aside) !== held) linkSync(aside, path)
  } catch {
    // Another process was faster, or the lock is taken again already.
  }
  rmSync(aside, { force: true })
}

function isStale(path: string, held: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat && Date.now() - stat.mtimeMs > staleMs) return true
  try {
    const { pid, host } = JSON.parse(held) as { pid?: number; host?: string }
    if (host !== hostname() || pid === undefined) return false
    process.kill(pid, 0)
    return false
  } catch (reason) {
    // Only "no such process" proves that the holder is gone; a half-written lock is a moment old.
    return (reason as NodeJS.ErrnoException).code === 'ESRCH'
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

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
