import type { LedgerStore } from '../../usage/ledger/ledger.ts'
import type { Context } from './context.ts'

/** The ledger of usage in PostgreSQL. */
export function createLedgerStore(_context: Context): LedgerStore {
  throw new Error('Not written yet')
}
