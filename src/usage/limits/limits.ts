import type { MaybePromise } from '../../accounts/accounts.ts'
import type { HeaderNames } from '../../chat/chat.ts'
import type { AppError } from '../../errors.ts'
import type { Amounts, Cost, Place } from '../cost.ts'

/** The user and the key that a request is booked to. */
export interface Subjects {
  readonly user: string
  readonly key?: string | undefined
}

/** The estimate of a request in tokens: its input, and the bound of its answer. */
export interface Size {
  readonly input: number
  readonly output: number
}

/** The limits of this installation, as the metering of requests asks them. */
export interface Limits {
  /**
   * Admits a request by the limits of its key, its user and everybody: requests, tokens, parallel requests. Undefined where
   * no limit concerns it, which costs a look-up. Throws a LimitRefusal (`rate_limited`) with the wait, and counts nothing
   * then. `size` is called only where a limit counts tokens or money, once.
   */
  admit(subjects: Subjects, size: () => Size): Admission | undefined
  /**
   * The same for the plugins alone, where no limit of the caller made an admission: undefined where the plugin has none.
   * Counts nothing yet: the plugin's limits are asked by `reserve`.
   */
  admitPlugin(subjects: Subjects, place: Place, size: () => Size): Admission | undefined
}

/** A request that was admitted; it must be released. */
export interface Admission {
  /**
   * Reserves an attempt: the plugin's own limits, and money in the budgets of all subjects, `most` nano-USD of a
   * request of that size, read where there is a budget (null: no price is known, which a budget refuses with
   * `configuration`, code `price_unknown`, unless the provider reports its cost). Throws a LimitRefusal, with `ofPlace`
   * where another place may be asked; `unavailable` where the budgets cannot be read. At once where no budget must be
   * asked in the storage; resolves with the id of the reservation in the budgets, which the ledger settles with the
   * attempt's row.
   */
  reserve(place: Place, most: (size: Size) => number | null): MaybePromise<string | undefined>
  /**
   * The failure that cuts a stream which has cost so much by now (nano-USD, read under a hard budget alone): it has run
   * over its reservation, and a hard budget has no more. Undefined lets it go on. Called as the answer grows.
   */
  exceeded(cost: () => number | null): AppError | undefined
  /** Puts the real amounts of an attempt in the place of its estimate; undefined gives all of it back. */
  settle(amounts: Amounts | undefined, cost: Cost | undefined): void
  /** The limits for a client: the tightest of requests and tokens, and `x-aichat-budget` of a budget at its warning. */
  headers(names?: HeaderNames): Readonly<Record<string, string>>
  /** Ends the request: one that ran in parallel runs no more. Once. */
  release(): void
}
