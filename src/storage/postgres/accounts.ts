import type { AccountStore } from '../../accounts/users.ts'
import type { Context } from './context.ts'

/** Accounts in PostgreSQL. */
export function createAccountStore(_context: Context): AccountStore {
  throw new Error('Not written yet')
}
