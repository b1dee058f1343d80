import type { Database } from './connection.ts'

/** Milliseconds that a write waits for another process, once one before has waited in vain. */
const shortWait = 50

/** How long that holds: milliseconds. */
const shortFor = 2_000

/**
 * Waiting for a lock blocks the event loop, and with it all requests: after a write that waited in vain, others fail at
 * once for some seconds (`busy`, which clients may try again), until another waits for the usual time.
 */
export function createPatience(db: Database): (waitedMs: number) => void {
  const usual = db.pragma('busy_timeout', { simple: true }) as number
  let isShort = false
  const restore = () => {
    isShort = false
    if (db.open) db.pragma(`busy_timeout = ${usual}`)
  }
  return (waitedMs) => {
    // A write that can be tried again soon hardly waits, see `withoutWaiting`.
    if (isShort || waitedMs < usual * 0.9) return
    isShort = true
    db.pragma(`busy_timeout = ${shortWait}`)
    setTimeout(restore, shortFor).unref()
  }
}
