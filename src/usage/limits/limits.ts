import type { MaybePromise } from '../../accounts/users.ts'
import type { Amounts, Cost, Place } from '../usage.ts'

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
   * no limit concerns it, which costs a look-up. Throws `rate_limited` with the wait. `size` is called only where a limit
   * counts tokens or money.
   */
  admit(subjects: Subjects, size: () => Size): Admission | undefined
  /**
   * The same for the plugins alone, where no limit of the caller made an admission: undefined where the plugin has none.
   */
  admitPlugin(subjects: Subjects, place: Place, size: () => Size): Admission | undefined
}

/** A request that was admitted; it must be released. */
export interface Admission {
  /**
   * Reserves an attempt: the plugin's own limits, and money in the budgets of all subjects, `most` nano-USD (null: no price
   * is known, which a budget refuses). Throws `rate_limited`. At once where no budget must be asked in the storage; resolves
   * with the id of the reservation in the budgets, which the ledger settles with the attempt's row.
   */
  reserve(place: Place, most: number | null): MaybePromise<string | undefined>
  /** Puts the real amounts of an attempt in the place of its estimate; undefined gives the estimate back. */
  settle(amounts: Amounts | undefined, cost: Cost | undefined): void
  /** The limits of the request for its client: see team.md of the headers. */
  headers(): Readonly<Record<string, string>>
  /** Ends the request: one that ran in parallel runs no more. Once. */
  release(): void
}
