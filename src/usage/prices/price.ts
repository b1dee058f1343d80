/** Rates in 10^-12 USD per token. A part without a rate of its own has that of the whole; see `flatOf`. */
export interface Rates {
  readonly input: number
  /** Missing for models that answer no tokens, such as embedders. */
  readonly output?: number
  /** Input read from a cache. */
  readonly cached?: number
  /** Input written to a cache that lasts 5 minutes, and one hour. */
  readonly cacheWrite?: number
  readonly cacheWriteLong?: number
  readonly audioInput?: number
  readonly audioOutput?: number
  readonly reasoning?: number
}

/** Rates, and those for long inputs: beyond `above` input tokens ALL tokens cost the other rates. */
export interface Tariff {
  readonly rates: Rates
  readonly long?: { readonly above: number; readonly rates: Rates }
}

export interface Price extends Tariff {
  readonly plugin: string
  /** A name, or a pattern: `*` stands for any text, `#` for a digit. Letter case does not matter. */
  readonly model: string
  /** Further names and patterns of the same model: aliases and dated versions. */
  readonly also?: readonly string[]
  /** Names and patterns that are another model, though they match. */
  readonly except?: readonly string[]
  /** The tariffs of other service tiers and speeds, such as `batch`, `flex`, `priority` and `fast`. */
  readonly services?: ReadonlyMap<string, Tariff>
  /** Milliseconds since 1970 UTC: the first moment at which it holds. Always, if absent. */
  readonly validFrom?: number
  /** A rate was no whole number of 10^-12 USD, and was rounded half up. */
  readonly rounded?: true
}

/** The places that prices come from, the best first. */
export const priceSources = ['operator', 'refreshed', 'shipped'] as const
export type PriceSource = (typeof priceSources)[number]

/** A price as it is used, and never changed: a newer one supersedes it under another id. */
export interface KnownPrice extends Price {
  readonly id: string
  readonly source: PriceSource
}
