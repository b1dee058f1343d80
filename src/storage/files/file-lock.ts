import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { makeFolder } from '../../formats/formats.ts'
import { hasEnded, processMark } from '../shared/process-mark.ts'

/** A change takes milliseconds. The age after which its lock counts as left behind, and the longest wait for it: milliseconds. */
const staleMs = 10_000
const patienceMs = 15_000
const pauseMs = 10

/**
 * Runs a change of a small file, from reading it to replacing it, while no other process makes one: two commands at the
 * same moment then lose nothing of each other. Creates the folder. Throws `busy` where the lock is not given up.
 */
export function whileLocked<Result>(path: string, change: () => Result): Result {
  const lock = join(dirname(path), `.${basename(path)}.lock`)
  const mark = lockMark()
  makeFolder(dirname(path))
  for (let waited = 0; !tryLock(lock, mark, staleMs); waited += pauseMs) {
    if (waited >= patienceMs)
      throw new AppError('busy', `Another process is changing ${path}`, {
        details: [`If none is, remove ${lock}`],
      })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  }
  try {
    return change()
  } finally {
    dropLock(lock, mark)
  }
}

/** The content of a lock: which process holds it. */
export function lockMark(): string {
  return JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID(), mark: processMark() })
}

/**
 * Takes the lock if it is free; the folder must be there. The lock of a process of this machine that has died, and one
 * that was not touched for `stale` milliseconds, is free at the next try.
 */
export function tryLock(path: string, mark: string, stale: number): boolean {
  try {
    writeFileSync(path, mark, { flag: 'wx', mode: 0o600 })
    return true
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') {
      // A full disk takes the name of a file and not its content.
      if (read(path) === '') rmSync(path, { force: true })
      throw reason
    }
  }
  const held = read(path)
  if (held !== undefined && isStale(path, held, stale)) takeAway(path, held)
  return false
}

/** Gives the lock up, unless another process has taken it over. */
export function dropLock(path: string, mark: string): void {
  if (read(path) === mark) rmSync(path, { force: true })
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

function isStale(path: string, held: string, stale: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat && Date.now() - stat.mtimeMs > stale) return true
  try {
    const { pid, host, mark } = JSON.parse(held) as { pid?: number; host?: string; mark?: string }
    // Another process may have the id by now: the mark holds the time of its start.
    if (typeof mark === 'string' && hasEnded(mark)) return true
    if (host !== hostname() || pid === undefined) return false
    process.kill(pid, 0)
    return false
  } catch (reason) {
    // Only "no such process" proves that the holder is gone; a half-written lock is a moment old.
    return (reason as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
