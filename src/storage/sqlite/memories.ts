import type { MemoryStore } from '../../personas/personas.ts'
import { pauseFor } from '../../process/process.ts'
import type { StoreDatabase } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { createMemoryStore as createStore } from '../stores/memories.ts'
import type { Database } from './connection.ts'
import { onSqlite } from './driver.ts'
import { goesOn, releasePages } from './housekeeping.ts'
import { createMemoryIndex } from './memory-index.ts'
import { createMemorySearch } from './memory-search.ts'
import { hideMemories, removeHidden } from './removal.ts'

/** Memories in SQLite. */
export function createMemoryStore(db: Database, driver: StoreDatabase, limits?: StoredLimits): MemoryStore {
  const index = createMemoryIndex(db)
  return createStore(driver, {
    limits,
    withIndex: async (work) => work(index),
    search: createMemorySearch(db),
    hide: (scope) => onSqlite(() => hideMemories(db, scope)),
    removeHidden: () => removeHidden(db),
    release: () => releasePages(db),
    wiped: () => removeHidden(db),
    rest: pauseFor,
    goesOn: () => goesOn(db),
    isOpen: () => db.open,
  })
}
