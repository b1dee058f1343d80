import type { KeyStore } from '../../accounts/keys/store.ts'
import type { Context } from './context.ts'

/** API keys in PostgreSQL. */
export function createKeyStore(_context: Context): KeyStore {
  throw new Error('Not written yet')
}
