import type { MemoryStore } from '../../personas/personas.ts'
import { createMemoryStore as createStore } from '../stores/memories.ts'
import type { Context } from './context.ts'
import { memoryIndexOf } from './memory-index.ts'
import { searchMemories } from './memory-search.ts'
import { goesOn, hideMemories, removeHidden } from './removal.ts'
import type { Database } from './sql.ts'
import { vectorColumn } from './vectors-column.ts'

/** Memories in PostgreSQL. */
export function createMemoryStore({ db, driver, limits }: Context): MemoryStore {
  return createStore(driver, {
    limits,
    withIndex: async (work) => work(memoryIndexOf(await vectorColumn(db))),
    search: async (scope, query) => searchMemories(db, await vectorColumn(db), scope, query),
    hide: hideMemories,
    removeHidden: () => removeHidden(db),
    release: async () => {},
    async wiped(hasHidden) {
      if (hasHidden) await removeHidden(db)
      vacuum(db, withTextOfMemories)
    },
    rest: async () => {},
    goesOn: () => goesOn(db),
    isOpen: () => goesOn(db),
  })
}

/** The tables with text or vectors of memories. */
const withTextOfMemories = ['memory', 'memory_terms', 'memory_posting', 'memory_vector', 'memory_sketch']

/**
 * Has the server free the rows that were removed from these tables, in the background. It may take too long, wait behind a
 * reader of another process or be refused: the server's own vacuum does it later.
 */
function vacuum(db: Database, tables: readonly string[]): void {
  if (goesOn(db)) db.run(`VACUUM (SKIP_LOCKED) ${tables.join(', ')}`).catch(() => {})
}
