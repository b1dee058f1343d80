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

/** The shipped prices, made at their first use in this process. */
function shipped(): ShippedPrices {
  shippedOnce ??= shippedOf(shippedFile('usage/prices/shipped.json'))
  return shippedOnce
}

let shippedOnce: ShippedPrices | undefined

/** The prices of a file, each made of its row at the first use. */
function shippedOf({ prices: rows, source, fetched_at: fetchedAt }: PriceFile): ShippedPrices {
  let all: readonly Price[] | undefined
  return {
    get prices() {
      all ??= rows.map(priceOf)
      return all
    },
    of: (plugin) => rows.filter((row) => row.plugin === plugin).map(priceOf),
    source,
    fetchedAt,
  }
}
