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
  /** Milliseconds on a clock that all processes share: the machine's uptime, or the database's clock. */
  now(): MaybePromise<number>
  read(subject: string, now: number, rule: FailureRule): Promise<Failures>
  /**
   * Counts a failure of a user (a digest) and, with the last one allowed, refuses the subject. False, and nothing is counted,
   * where it is refused already. The failures stay as long as the refusal: they tell whose logins it stopped.
   */
  fail(subject: string, user: string, now: number, rule: FailureRule): Promise<boolean>
  /** Takes this user's failures out of the count; false, and nothing changes, where the subject is refused. */
  forgive(subject: string, user: string, now: number, rule: FailureRule): Promise<boolean>
  /** The subjects with failures of this user (a digest) that count or led to a refusal, in order. */
  subjectsOf(user: string): Promise<readonly string[]>
  /** Ends the refusal of a subject and forgets its failures, for all processes; false where there was nothing. */
  release(subject: string): Promise<boolean>
}
