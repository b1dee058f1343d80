import type { Database } from './connection.ts'

/**
 * Makes what was deleted leave the disk: freed pages, overwritten by secure_delete already, are given back, and the
 * write-ahead log, which still holds them as they were, is emptied. A reader in another process may keep that from
 * happening now; nobody waits for it, and the next time does it.
 */
export function giveBackPages(db: Database): void {
  db.pragma('incremental_vacuum')
  emptyLog(db)
}

/** The same in slices of some milliseconds, between which `rest` lets others be served. */
export async function giveBackPagesSlowly(db: Database, rest: () => Promise<void>): Promise<void> {
  const free = () => db.pragma('freelist_count', { simple: true }) as number
  for (let left = free(), before = left + 1; left > 0 && left < before; before = left, left = free()) {
    db.pragma(`incremental_vacuum(${pagesAtOnce})`)
    await rest()
    if (!db.open) return
  }
  emptyLog(db)
}

/** Pages of 8 KiB: 2 MiB are moved in some milliseconds. */
const pagesAtOnce = 256

function emptyLog(db: Database): void {
  const patience = db.pragma('busy_timeout', { simple: true }) as number
  // A reader that is in the way may read for seconds, and this thread would wait for it.
  db.pragma('busy_timeout = 0')
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.pragma(`busy_timeout = ${patience}`)
  }
}
