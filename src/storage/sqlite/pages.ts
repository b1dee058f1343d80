import type { Database } from './database.ts'

/**
 * Makes what was deleted leave the disk: freed pages, overwritten by secure_delete already, are given back, and the
 * write-ahead log, which still holds them as they were, is emptied. A reader in another process may keep that from
 * happening now; then the next time does it.
 */
export function giveBackPages(db: Database): void {
  db.pragma('incremental_vacuum')
  db.pragma('wal_checkpoint(TRUNCATE)')
}
