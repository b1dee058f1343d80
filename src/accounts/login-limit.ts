import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { waitText } from '../formats/formats.ts'
import type { FailureRule, Failures, LoginFailureStore } from './login-failures.ts'

/** The specification's protection: after five failures from one address, unless a setting says otherwise, no login from it for fifteen minutes. */
export const windowMs = 15 * 60_000

/**
 * Milliseconds for which an address without a refusal is not read again, so that one request reads it once. The failures that
 * another process counts meanwhile are seen when an attempt is decided.
 */
const knownMs = 1000

/** Addresses that are remembered so. */
const mostKnown = 1000

/** The most attempts of one address that wait for earlier ones to be decided. */
const longestQueue = 256

/** A login attempt that may be checked; exactly one of its methods is called. */
export interface Attempt {
  /** Counts against the address until the window has passed, or until this user logs in from there. Throws as `succeed` does. */
  fail(user: string): Promise<void>
  /**
   * Takes this user's own failures out of the count, and no other user's. Throws `rate_limited` where another process has
   * counted the last allowed failure meanwhile: the attempt then tells nothing about its password.
   */
  succeed(user: string): Promise<void>
  /** The password was never checked: the attempt counts for nothing. */
  withdraw(): void
}

/** The attempts left to an address, as the RateLimit header tells them. */
export interface Allowance {
  /** Failures that are allowed in all. */
  readonly most: number
  readonly left: number
  /** Whole seconds until more is allowed. */
  readonly resetSeconds: number
}

/** The limiter of one kind of attempt, over all processes on a storage. */
export type LoginLimit = ReturnType<typeof createLoginLimit>

/** The attempts of an address that this process has not decided yet. */
interface Undecided {
  pending: number
  readonly waiting: (() => void)[]
}

/** Failures, and the time at which they were read, on the store's clock. */
interface FailuresNow extends Failures {
  readonly now: number
}

export interface LoginLimitParts {
  readonly store: LoginFailureStore
  /** The prefix of this limit's subjects in the store, such as `login`. */
  readonly kind: string
  /** The failure's message. */
  readonly what: string
  /** How many failures an address has, at the moment, before it is refused. */
  readonly most: () => number
}

/**
 * Counts in the store, at the moment when an attempt is decided: of attempts in several processes at once, too, the first
 * failures that are allowed are distinguished from a success, and no later attempt is. A login without failures before it writes nothing.
 */
export function createLoginLimit({ store, kind, what, most }: LoginLimitParts) {
  const rule: FailureRule = {
    get most() {
      return most()
    },
    windowMs,
  }
  const undecided = new Map<string, Undecided>()
  const subjectOf = (address: string) => `${kind} ${address}`
  const known = new Map<string, FailuresNow & { readonly readAt: number }>()
  const read = async (address: string): Promise<FailuresNow> => {
    const before = known.get(address)
    const age = before ? Math.floor(performance.now() - before.readAt) : 0
    if (before && age < knownMs) return { ...before, now: before.now + age }
    const readAt = performance.now()
    const now = await store.now()
    const failures = await store.read(subjectOf(address), now, rule)
    // More than are allowed were counted where fewer are allowed by now: the address waits until enough of them are old.
    const extra = failures.at[failures.at.length - rule.most]
    const found = { now, ...failures, ...(extra !== undefined && { refusedUntil: extra + windowMs }) }
    if (known.size >= mostKnown) known.clear()
    if (found.refusedUntil === 0) known.set(address, { ...found, readAt })
    return found
  }

  return {
    /**
     * Reserves an attempt before its password is looked at, so that a hundred guesses at once are no more than five.
     * Where the pending ones of this process could be the last allowed failures, this waits for them.
     * Throws `rate_limited` while the address is refused.
     */
    async reserve(address: string): Promise<Attempt> {
      for (;;) {
        const failures = await read(address)
        refuse(failures)
        const entry = undecided.get(address) ?? { pending: 0, waiting: [] }
        if (failures.at.length + entry.pending < rule.most) {
          entry.pending++
          undecided.set(address, entry)
          return attempt(address, entry)
        }
        if (entry.waiting.length >= longestQueue)
          throw new AppError('busy', 'Too many logins at once', {
            details: ['Try again in a few seconds'],
            retryAfter: 5,
          })
        // Without a pending one, the failures that filled the count were just decided elsewhere: they are read again.
        if (entry.pending > 0) await new Promise<void>((resolve) => entry.waiting.push(resolve))
        known.delete(address)
      }
    },
    /** Throws `rate_limited` while the address is refused. */
    check: async (address: string) => refuse(await read(address)),
    async allowance(address: string): Promise<Allowance> {
      const { at, refusedUntil, now } = await read(address)
      if (refusedUntil > 0) return { most: rule.most, left: 0, resetSeconds: seconds(refusedUntil - now) }
      const until = (at[0] ?? now) + windowMs
      return { most: rule.most, left: Math.max(0, rule.most - at.length), resetSeconds: seconds(until - now) }
    },
    /** Ends the refusal of each address with failures of this user, and forgets its failures. */
    async releaseUser(user: string) {
      const prefix = subjectOf('')
      const subjects = (await store.subjectsOf(digestOf(user))).filter((subject) => subject.startsWith(prefix))
      for (const subject of subjects) await store.release(subject)
      known.clear()
    },
  }

  function attempt(address: string, entry: Undecided): Attempt {
    const settled = () => {
      entry.pending--
      if (entry.pending === 0) undecided.delete(address)
      for (const wake of entry.waiting.splice(0)) wake()
    }
    const decide = async (outcome: 'fail' | 'forgive', user: string) => {
      try {
        const counts = await store[outcome](subjectOf(address), digestOf(user), await store.now(), rule)
        // A success takes nothing out of a count of none.
        if (!counts || outcome === 'fail' || known.get(address)?.at.length !== 0) known.delete(address)
        if (!counts) refuse(await read(address))
      } catch (reason) {
        known.delete(address)
        throw reason
      } finally {
        settled()
      }
    }
    return {
      fail: (user) => decide('fail', user),
      succeed: (user) => decide('forgive', user),
      withdraw: settled,
    }
  }

  function refuse({ refusedUntil, now }: FailuresNow): void {
    if (refusedUntil <= now) return
    const wait = seconds(refusedUntil - now)
    throw new AppError('rate_limited', what, {
      details: [`Try again in ${waitText(wait)}`, `A new password ends the wait: aichat users reset-password USER`],
      retryAfter: wait,
    })
  }
}

/** A user is stored as a digest: a name that was typed may be a password in the wrong field. */
function digestOf(user: string): string {
  return createHash('sha256').update(user).digest('base64url').slice(0, 22)
}

function seconds(ms: number): number {
  return Math.min(windowMs / 1000, Math.max(1, Math.ceil(ms / 1000)))
}
