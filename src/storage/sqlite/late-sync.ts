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

/**
 * Resolves when all that was committed is on the disk. The flush runs beside the event loop, which a commit would hold up
 * for as long as the disk takes. SQLite has no locks on this file, so that it may be opened and closed.
 */
export async function syncLog({ name }: Database): Promise<void> {
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
