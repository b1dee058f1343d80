import type { MaybePromise } from '../../accounts/accounts.ts'
import type { KnownPrice, Price } from './price.ts'

/** The most prices of the operator and of refreshes that hold at once. */
export const mostStoredPrices = 50_000

/** A price that this installation keeps. Its id is never used again, and its fields never change. */
export interface StoredPrice extends KnownPrice {
  readonly source: 'operator' | 'refreshed'
  /** The user that set it, a plugin's list, or a file's name or address. */
  readonly origin: string
  /** Milliseconds since 1970 UTC. */
  readonly setAt: number
}

/** The key that distinguishes the prices of one source: one of each holds at a time. */
export type PriceKey = Pick<StoredPrice, 'source' | 'plugin' | 'model' | 'validFrom'>

export interface NewPrice extends Pick<StoredPrice, 'source' | 'origin'> {
  readonly price: Price
}

/** Prices that are set, and keys of prices that end, in one change. */
export interface PriceChange {
  readonly set: readonly NewPrice[]
  readonly end: readonly PriceKey[]
}

/** The operator's and the refreshed prices; `test/storage/contract/prices.ts` has its promises. */
export interface PriceStore {
  /** The prices that hold, in the order in which they were set. At once where the database is on this machine. */
  list(): MaybePromise<readonly StoredPrice[]>
  /**
   * Makes the whole change or none of it. A price that is set ends the one of the same key; where that one says the same, it
   * stays under its id. Throws `too_large` beyond `mostStoredPrices`. Resolves with the ids of the set prices, in their
   * order, and with the number of prices that ended.
   */
  write(change: PriceChange, at: number): Promise<{ readonly ids: readonly string[]; readonly ended: number }>
}
