import type { NewMemory, RetentionPolicy, Scope } from '../../personas/memory/memory.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { type Added, addMemories } from '../stores/memory-write.ts'
import type { Database } from './connection.ts'
import { onSqlite, runOn } from './driver.ts'
import { createMemoryIndex } from './memory-index.ts'

export interface MemoryWriter {
  add(scope: Scope, memories: readonly NewMemory[], policy: RetentionPolicy): Added
}

/** Adds memories by plain calls, in transactions that span several stores. */
export function createMemoryWriter(db: Database, index: MemoryIndex = createMemoryIndex(db)): MemoryWriter {
  return { add: (scope, memories, policy) => runOn(db, addMemories(index, scope, memories, policy)) }
}

/** For a scope that no search sees before all its memories are indexed, see `createStageIndex`. */
export function createUnindexedWriter(db: Database): MemoryWriter {
  return createMemoryWriter(db, {
    ...createMemoryIndex(db),
    neighbours: () => onSqlite(() => []),
    surroundings: () => onSqlite(() => []),
  })
}
