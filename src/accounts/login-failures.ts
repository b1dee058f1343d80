import type { MaybePromise } from './users.ts'

/** Failed logins of one subject, such as a network, that still count. */
export interface Failures {
  /** When they happened, the oldest first; empty while the subject is refused. */
  readonly at: readonly number[]
  /** Until when every attempt is refused; 0 while none is. */
  readonly refusedUntil: number
}

/** How many failures a subject has before it is refused, and for how long they count and it is: milliseconds. */
export interface FailureRule {
  readonly most: number
  readonly windowMs: number
}

/**
 * The failed logins of all processes on one storage. Times are those of the store's clock, which the processes share: a
 * failure counts for a `now` slightly before it too. On one machine, failures from before its last start do not count.
 */
export interface LoginFailureStore {
  /**
   * Milliseconds on a clock that all processes share, independent of the machines' dates: the machine's uptime, or the
   * database's clock.
   */
  now(): MaybePromise<number>
  read(subject: string, now: number, rule: FailureRule): Promise<Failures>
  /**
   * Counts a failure of a user (a digest) and, with the last one allowed, refuses the subject. False, and nothing is counted,
   * where it is refused already.
   */
  fail(subject: string, user: string, now: number, rule: FailureRule): Promise<boolean>
  /** Takes this user's failures out of the count; false, and nothing changes, where the subject is refused. */
  forgive(subject: string, user: string, now: number, rule: FailureRule): Promise<boolean>
}
