import type { Storage } from '../storage/storage.ts'
import {
  createPrices,
  type Price,
  type PriceFile,
  type PriceList,
  type Prices,
  priceOf,
  type ShippedPrices,
  shippedPriceList,
} from '../usage/usage.ts'
import { shippedFile } from './package-folder.ts'

export interface PriceAreaParts {
  readonly storage: Pick<Storage, 'prices' | 'changes' | 'shared'>
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Tells the operator about a trouble that needs no answer of its own. */
  readonly warn: (message: string) => void
}

/** The part of the composition root that deals with prices. */
export function openPrices({ storage, now, warn }: PriceAreaParts): Promise<Prices> {
  return createPrices({
    store: storage.prices,
    mark: () => storage.changes.mark('prices'),
    onChange: (listener) => storage.shared?.onChange('prices', listener),
    shipped,
    now,
    clock: Date.now,
    warn,
  })
}

/** The shipped prices alone, for a command on an installation that keeps nothing yet. */
export function openShippedPrices(): PriceList {
  return shippedPriceList(shipped)
}

let prices: readonly Price[] | undefined

/** The shipped prices; all of them are made at their first use in this process, those of one plugin at each. */
function shipped(): ShippedPrices {
  const { prices: rows, source, fetched_at: fetchedAt } = shippedFile<PriceFile>('usage/prices/shipped.json')
  return {
    get prices() {
      prices ??= rows.map(priceOf)
      return prices
    },
    of: (plugin) => rows.filter((row) => row.plugin === plugin).map(priceOf),
    source,
    fetchedAt,
  }
}
