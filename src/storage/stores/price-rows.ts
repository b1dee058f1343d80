import type { Price, PriceKey, StoredPrice, Tariff } from '../../usage/usage.ts'

export interface PriceRow extends Pick<StoredPrice, 'source' | 'plugin' | 'model' | 'origin'> {
  readonly number: number
  readonly valid_from: number
  readonly terms: string
  readonly set_at: number
}

/** The columns of which one price holds at a time; 0 for a price that always held. */
export type KeyColumns = readonly [source: string, plugin: string, model: string, validFrom: number]

export function keyOf({ source, plugin, model, validFrom = 0 }: PriceKey): KeyColumns {
  return [source, plugin, model, validFrom]
}

/** The fields of a price that have no column, the same text for the same terms. */
export function termsOf({ rates, long, services, also, except, rounded }: Price): string {
  const tariff = ({ rates, long }: Tariff) => ({
    rates: sorted(rates),
    ...(long && { long: { above: long.above, rates: sorted(long.rates) } }),
  })
  return JSON.stringify({
    ...tariff({ rates, ...(long && { long }) }),
    ...(services &&
      services.size > 0 && {
        services: sorted(Object.fromEntries([...services].map(([name, each]) => [name, tariff(each)]))),
      }),
    ...(also && also.length > 0 && { also }),
    ...(except && except.length > 0 && { except }),
    ...(rounded && { rounded }),
  })
}

function sorted<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))) as T
}

/** The price of a row. */
export function priceOf(row: PriceRow): StoredPrice {
  const { services, ...terms } = JSON.parse(row.terms)
  return {
    ...terms,
    ...(services && { services: new Map(Object.entries(services)) }),
    id: `p${row.number}`,
    source: row.source,
    plugin: row.plugin,
    model: row.model,
    ...(row.valid_from !== 0 && { validFrom: row.valid_from }),
    origin: row.origin,
    setAt: row.set_at,
  }
}
