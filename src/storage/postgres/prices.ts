import type { PriceStore } from '../../usage/prices/store.ts'
import type { Context } from './context.ts'

/** Prices in PostgreSQL. */
export function createPriceStore(_context: Context): PriceStore {
  throw new Error('Not written yet')
}
