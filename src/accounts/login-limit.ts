import { AppError } from '../errors.ts'
import { counted } from '../formats/counted.ts'

/** The specification's protection: after five failures from one address, no login from it for fifteen minutes. */
export const allowedFailures = 5
export const windowMs = 15 * 60_000

/** The most addresses that are remembered at once. */
const capacity = 50_000

/** The most attempts of one address that wait for earlier ones to be decided. */
const longestQueue = 256

/** A login attempt that may be checked; exactly one of its methods is called. */
export interface Attempt {
  /** Counts against the address until the window has passed, or until this user logs in from there. */
  fail(user: string): void
  /** Takes this user's own failures out of the count, and no other user's. */
  succeed(user: string): void
  /** The password was never checked: the attempt counts for nothing. */
  withdraw(): void
}

/** The attempts left to an address, as the RateLimit header tells them. */
export interface Allowance {
  readonly left: number
  /** Whole seconds until more is allowed. */
  readonly resetSeconds: number
}

export interface LoginLimit {
  /**
   * Reserves an attempt before its password is looked at, so that a hundred guesses at once are no more than five.
   * Where the pending ones could be the last allowed failures, this waits for them.
   * Throws `rate_limited` while the address is refused.
   */
  reserve(address: string): Promise<Attempt>
  /** Throws `rate_limited` while the address is refused. */
  check(address: string): void
  allowance(address: string): Allowance
}

interface Entry {
  failures: { readonly at: number; readonly user: string }[]
  pending: number
  waiting: (() => void)[]
  /** Until when logins are refused; 0 while they are not. */
  blockedUntil: number
}

/** `now` is a clock in milliseconds that only goes forward: setting the computer's date must free no address. */
export function createLoginLimit(now: () => number, what = 'Too many failed login attempts'): LoginLimit {
  // In the order of their last use. Refused addresses are kept apart: a flood of fresh ones must not push them out.
  const counting = new Map<string, Entry>()
  const refused = new Map<string, Entry>()

  return {
    async reserve(address) {
      for (;;) {
        const entry = current(address)
        refuse(entry)
        if (entry.failures.length + entry.pending < allowedFailures) {
          entry.pending++
          return attempt(address, entry)
        }
        if (entry.waiting.length >= longestQueue)
          throw new AppError('busy', 'Too many logins at once', {
            details: ['Try again in a few seconds'],
            retryAfter: 5,
          })
        await new Promise<void>((resolve) => entry.waiting.push(resolve))
      }
    },
    check: (address) => refuse(peek(address)),
    allowance(address) {
      const entry = peek(address)
      if (!entry || entry.failures.length === 0) return { left: allowedFailures, resetSeconds: seconds(windowMs) }
      const until = entry.blockedUntil || entry.failures[0]!.at + windowMs
      return { left: Math.max(0, allowedFailures - entry.failures.length), resetSeconds: seconds(until - now()) }
    },
  }

  function attempt(address: string, entry: Entry): Attempt {
    const settled = () => {
      entry.pending--
      if (entry.failures.length === 0 && entry.pending === 0) counting.delete(address)
      for (const wake of entry.waiting.splice(0)) wake()
    }
    return {
      fail(user) {
        entry.failures.push({ at: now(), user })
        if (entry.failures.length >= allowedFailures && entry.blockedUntil === 0) {
          entry.blockedUntil = now() + windowMs
          counting.delete(address)
          keep(refused, address, entry)
        }
        settled()
      },
      succeed(user) {
        entry.failures = entry.failures.filter((failure) => failure.user !== user)
        settled()
      },
      withdraw: settled,
    }
  }

  /** The entry of an address, made when there is none, and moved to the young end. */
  function current(address: string): Entry {
    const entry = peek(address) ?? { failures: [], pending: 0, waiting: [], blockedUntil: 0 }
    if (entry.blockedUntil === 0) keep(counting, address, entry)
    return entry
  }

  /** The entry of an address without expired failures. */
  function peek(address: string): Entry | undefined {
    const blocked = refused.get(address)
    if (blocked) {
      if (blocked.blockedUntil > now()) return blocked
      refused.delete(address)
      return undefined
    }
    const entry = counting.get(address)
    if (entry) entry.failures = entry.failures.filter((failure) => failure.at + windowMs > now())
    return entry
  }

  function keep(map: Map<string, Entry>, address: string, entry: Entry): void {
    map.delete(address)
    map.set(address, entry)
    if (counting.size + refused.size <= capacity) return
    for (const young of [counting, refused]) {
      for (const [oldest, { pending }] of young) {
        if (pending > 0 || oldest === address) continue
        young.delete(oldest)
        return
      }
    }
  }

  function refuse(entry: Entry | undefined): void {
    if (!entry || entry.blockedUntil <= now()) return
    const wait = seconds(entry.blockedUntil - now())
    throw new AppError('rate_limited', what, { details: [`Try again in ${counted(wait, 'second')}`], retryAfter: wait })
  }
}

function seconds(ms: number): number {
  return Math.min(windowMs / 1000, Math.max(1, Math.ceil(ms / 1000)))
}
