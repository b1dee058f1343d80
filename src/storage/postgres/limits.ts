import type { LimitStore } from '../../usage/limits/store.ts'
import type { Context } from './context.ts'

/** Limits in PostgreSQL. */
export function createLimitStore(_context: Context): LimitStore {
  throw new Error('Not written yet')
}
