import { open } from 'node:fs/promises'
import type { Database } from './connection.ts'

/**
 * Runs a write with a commit that does not wait for the disk; `syncLog` follows. The database stays whole after a power
 * cut, which may take the write back (https://www.sqlite.org/pragma.html#pragma_synchronous, NORMAL in WAL mode).
 */
export function withoutSync<R>(db: Database, write: () => R): R {
  db.pragma('synchronous = NORMAL')
  try {
    return write()
  } finally {
    db.pragma('synchronous = FULL')
  }
}

const waiting = new WeakSet<Database>()

/** How long a commit may wait for the disk: milliseconds. */
const longestWait = 100

/** Has commits reach the disk soon, many with one flush: for rows that may be lost by a power cut alone. */
export function syncLater(db: Database): void {
  if (waiting.has(db)) return
  waiting.add(db)
  const flush = () => {
    waiting.delete(db)
    // Failures of the disk are reported by the next write.
    syncLog(db).catch(() => undefined)
  }
  setTimeout(flush, longestWait).unref()
}

/** The last flush of a database, and the one that has not begun: it takes along what is committed until then. */
const flushes = new WeakMap<Database, { readonly last: Promise<void>; isAhead: boolean }>()

/**
 * Resolves when all that was committed is on the disk. The flush runs off the event loop, which a commit would hold up
 * for as long as the disk takes; those who ask during a flush share the next.
 */
export function syncLog(db: Database): Promise<void> {
  const before = flushes.get(db)
  if (before?.isAhead) return before.last
  const begin = () => {
    flush.isAhead = false
    return flushLog(db)
  }
  const flush = { last: before ? before.last.then(begin, begin) : Promise.resolve().then(begin), isAhead: true }
  flushes.set(db, flush)
  return flush.last
}

/** SQLite has no locks on this file, so that it may be opened and closed. */
async function flushLog({ name }: Database): Promise<void> {
  let log: Awaited<ReturnType<typeof open>>
  try {
    log = await open(`${name}-wal`, 'r+')
  } catch (reason) {
    // No log: the database was closed, which has written it all.
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return
    throw reason
  }
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
