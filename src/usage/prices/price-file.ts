import { rateOf } from './money.ts'
import type { Price, Rates, Tariff } from './price.ts'

/** Rates as files and the API write them: decimal texts, USD per million tokens, with at most six decimals. */
export interface RatesRow {
  readonly input: string
  readonly output?: string | undefined
  readonly cached?: string | undefined
  readonly cache_write?: string | undefined
  readonly cache_write_1h?: string | undefined
  readonly audio_input?: string | undefined
  readonly audio_output?: string | undefined
  readonly reasoning?: string | undefined
}

export interface TariffRow {
  readonly rates: RatesRow
  readonly long?: { readonly above: number; readonly rates: RatesRow } | undefined
}

/** One price of a price file. */
export interface PriceRow extends TariffRow {
  readonly plugin: string
  readonly model: string
  readonly also?: readonly string[] | undefined
  readonly except?: readonly string[] | undefined
  readonly services?: Readonly<Record<string, TariffRow>> | undefined
  /** A day, from its beginning in UTC: `2026-01-31`. */
  readonly valid_from?: string | undefined
  readonly rounded?: boolean | undefined
}

/** A price file: the shipped one, and those that an operator gives. */
export interface PriceFile {
  readonly format: typeof priceFormat
  /** Where the prices are from. */
  readonly source: string
  /** The day of the data: `2026-01-31`. */
  readonly fetched_at: string
  readonly prices: readonly PriceRow[]
}

export const priceFormat = 'aichat-prices/1'

/** The fields of rates: as they are written, and as the calculation names them. */
const fields = {
  input: 'input',
  output: 'output',
  cached: 'cached',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWriteLong',
  audio_input: 'audioInput',
  audio_output: 'audioOutput',
  reasoning: 'reasoning',
} as const satisfies Record<keyof RatesRow, keyof Rates>

/** The price of a row that was validated. */
export function priceOf(row: PriceRow): Price {
  const { plugin, model, also, except, services, valid_from: day } = row
  return {
    plugin,
    model,
    ...tariffOf(row),
    ...(also && { also }),
    ...(except && { except }),
    ...(services && {
      services: new Map(Object.entries(services).map(([name, tariff]) => [name, tariffOf(tariff)])),
    }),
    ...(day !== undefined && { validFrom: Date.parse(day) }),
    ...(row.rounded && { rounded: true as const }),
  }
}

function tariffOf({ rates, long }: TariffRow): Tariff {
  return { rates: ratesOf(rates), ...(long && { long: { above: long.above, rates: ratesOf(long.rates) } }) }
}

function ratesOf(row: RatesRow): Rates {
  const rates: { -readonly [Field in keyof Rates]: Rates[Field] } = { input: rateOf(row.input)! }
  for (const [written, name] of Object.entries(fields) as [keyof RatesRow, keyof Rates][]) {
    const text = row[written]
    if (text !== undefined) rates[name] = rateOf(text)!
  }
  return rates
}
