import type { ResponseStore } from '../../chat/responses/store.ts'
import type { Context } from './context.ts'

/** Responses in PostgreSQL. */
export function createResponseStore(_context: Context): ResponseStore {
  throw new Error('Not written yet')
}
