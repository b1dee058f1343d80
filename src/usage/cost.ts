/** The amounts of one attempt, for all providers. Tokens are whole numbers; `undefined` is "not reported", never 0. */
export interface Amounts {
  /** All tokens of the request, cached and written ones included. */
  readonly input: number
  /** Input tokens read from a cache: part of `input`. */
  readonly cached?: number
  /** Input tokens written to a cache that lasts 5 minutes, and one hour: part of `input`. */
  readonly cacheWrite?: number
  readonly cacheWriteLong?: number
  /** All billed tokens of the answer: reasoning and rejected predictions included. */
  readonly output: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Audio tokens: parts of `input` and `output`. */
  readonly audioInput?: number
  readonly audioOutput?: number
  /** Characters that were spoken; speech has no tokens. */
  readonly characters?: number
  /** As the answer reports them: they change the price. */
  readonly serviceTier?: string
  readonly speed?: string
  /** The cost that the provider reports, in nano-USD. */
  readonly reportedNano?: number
}

/** The place of an attempt: a plugin's model, or one of this machine (`plugin` null). */
export interface Place {
  readonly plugin: string | null
  readonly model: string
}

/** The source of a price, best first. `local` costs nothing; null is unknown. */
export type CostSource = 'reported' | 'operator' | 'refreshed' | 'shipped' | 'local' | null

/** The cost of an attempt. `nano` is whole nano-USD (10^-9), or null where it is unknown: never 0 for lack of a price. */
export interface Cost {
  readonly nano: number | null
  readonly source: CostSource
  /** The price that was used, which stays as it was when a newer one supersedes it. */
  readonly priceId: string | null
}

/** Prices as the ledger and the budgets use them. Synchronous: everything is in memory. */
export interface PriceList {
  costOf(place: Place, amounts: Amounts, at: number): Cost
  /** The most that an attempt can cost in nano-USD; null without a price. `output` bounds the answer, in tokens. */
  mostFor(place: Place, input: number, output: number, at: number): number | null
}
