import type { MemoryStore } from '../../personas/memory/memory.ts'
import type { Context } from './context.ts'

/** Memories in PostgreSQL. */
export function createMemoryStore(_context: Context): MemoryStore {
  throw new Error('Not written yet')
}
