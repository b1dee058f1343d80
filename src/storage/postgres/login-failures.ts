import type { LoginFailureStore } from '../../accounts/login-failures.ts'
import type { Context } from './context.ts'

/** Failed logins in PostgreSQL. */
export function createLoginFailureStore(_context: Context): LoginFailureStore {
  throw new Error('Not written yet')
}
