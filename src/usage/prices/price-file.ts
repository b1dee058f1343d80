import type { Price, Rates, Tariff } from './price.ts'
import type { PriceRow } from './price-schema.ts'
import { rateOf, rateText } from './rate-text.ts'

type TariffRow = Pick<PriceRow, 'rates' | 'long'>
type RatesRow = PriceRow['rates']

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

/** The row of a price; `priceOf` makes the price of it again. */
export function rowOf({ plugin, model, also, except, services, validFrom, rounded, ...tariff }: Price): PriceRow {
  return {
    plugin,
    model,
    ...(also && also.length > 0 && { also: [...also] }),
    ...(except && except.length > 0 && { except: [...except] }),
    ...tariffRow(tariff),
    ...(services &&
      services.size > 0 && {
        services: Object.fromEntries([...services].sort().map(([name, each]) => [name, tariffRow(each)])),
      }),
    ...(validFrom !== undefined && { valid_from: new Date(validFrom).toISOString().slice(0, 10) }),
    ...(rounded && { rounded }),
  }
}

function tariffRow({ rates, long }: Tariff): TariffRow {
  return { rates: ratesRow(rates), ...(long && { long: { above: long.above, rates: ratesRow(long.rates) } }) }
}

function ratesRow(rates: Rates): RatesRow {
  const written = Object.entries(fields).flatMap(([field, name]) => {
    const rate = rates[name]
    return rate === undefined ? [] : [[field, rateText(rate)]]
  })
  return Object.fromEntries(written)
}
