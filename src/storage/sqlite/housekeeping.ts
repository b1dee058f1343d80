import { pauseFor } from '../../process/process.ts'
import type { Database } from './connection.ts'

const stopping = new WeakSet<Database>()

/** Has work in slices that can be done at the next start end with the slice that is under way: for a service that stops. */
export function deferCleanup(db: Database): void {
  stopping.add(db)
}

/** Whether work in slices may go on. */
export function goesOn(db: Database): boolean {
  return db.open && !stopping.has(db)
}

/**
 * Makes deleted rows leave the disk: freed pages, overwritten by secure_delete already, are given back, and the
 * write-ahead log, which still holds them as they were, is emptied. It goes in slices of some milliseconds, between which
 * others are served. A reader in another process, or a full disk, may keep that from happening now; deleted rows stay
 * invisible all the same, and the next call does it.
 */
export async function releasePages(db: Database): Promise<void> {
  try {
    await shrink(db)
  } catch (reason) {
    if (!isFailureOfDatabase(reason)) throw reason
  }
}

/** Whether the database could not be read or written: a full disk, a lock, a fault of the file. */
export function isFailureOfDatabase(reason: unknown): boolean {
  return String((reason as { code?: unknown } | null)?.code).startsWith('SQLITE_')
}

async function shrink(db: Database): Promise<void> {
  const free = () => db.pragma('freelist_count', { simple: true }) as number
  for (let left = free(), before = left + 1; left > 0 && left < before; before = left, left = free()) {
    const begun = performance.now()
    db.pragma(`incremental_vacuum(${pagesAtOnce})`)
    await pauseFor(performance.now() - begun)
    if (!goesOn(db)) return
  }
  if (db.open) emptyWriteAheadLog(db)
}

/** Pages of 8 KiB: 2 MiB are moved in some milliseconds. */
const pagesAtOnce = 256

/** Moves the write-ahead log into the database and frees its room, unless a reader still needs it. */
export function emptyWriteAheadLog(db: Database): void {
  const timeout = db.pragma('busy_timeout', { simple: true }) as number
  // A reader that is in the way may read for seconds, and this thread would wait for it.
  db.pragma('busy_timeout = 0')
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.pragma(`busy_timeout = ${timeout}`)
  }
}
