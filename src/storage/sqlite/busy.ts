import type { Database } from './connection.ts'

/** Milliseconds that a write waits which can be tried again soon. */
const shortWait = 10

/** Runs a write that can be tried again soon: it hardly waits for another process. Throws SQLITE_BUSY. */
export function withoutWaiting<R>(db: Database, write: () => R): R {
  const timeout = db.pragma('busy_timeout', { simple: true }) as number
  db.pragma(`busy_timeout = ${shortWait}`)
  try {
    return write()
  } finally {
    db.pragma(`busy_timeout = ${timeout}`)
  }
}
