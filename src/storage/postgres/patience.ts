import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds that an answer already given waits to be saved. */
const patienceMs = 5000

/** Milliseconds between two attempts; those to connect have their own pace. */
const pauseMs = 100

/** The end of the patience of the work under way: milliseconds of `performance.now`. */
const until = new AsyncLocalStorage<number>()

/**
 * Runs work with statements that try again for up to 5 s where the database is away. A statement that may have been
 * committed is never repeated.
 */
export function patiently<R>(work: () => Promise<R>): Promise<R> {
  return until.run(performance.now() + patienceMs, work)
}

/** Waits a moment and resolves with true where the work under way may try again. */
export async function mayTryAgain(): Promise<boolean> {
  const end = until.getStore()
  if (end === undefined || performance.now() + pauseMs > end) return false
  await delay(pauseMs)
  return true
}
