import type { Scope } from '../../personas/memory/memory.ts'
import { firstSlice, slice } from '../shared/memory-retention.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { findScope } from './memories-scope.ts'
import { createTextIndex } from './memories-text.ts'

/**
 * Indexes the text of a stage's memories once all of them are there: each is written with all its neighbours, where a memory that
 * is indexed as it comes is indexed again for every slice that brings it a neighbour.
 */
export function createStageIndex(db: Database, scope: Scope) {
  const text = createTextIndex(db)
  const after = db.prepare<[number, number], { memory_id: number; size: number }>(
    `SELECT memory_id, length(content) AS size FROM memory WHERE memory_id > ? AND memory_id <= ?
      ORDER BY memory_id LIMIT ${slice.memories}`,
  )
  const lengthen = db.prepare('UPDATE memory_scope SET length = length + ? WHERE scope_id = ?')
  let last = 0
  return {
    /** Indexes some more; false when none is left. Expects to run inside a transaction. */
    next(): boolean {
      const row = findScope(db, scope)
      if (!row) return false
      const { low, high } = rangeOf(row.scope_id)
      const numbers = firstSlice(after.all(Math.max(low, last), high)).map(({ memory_id }) => memory_id)
      if (numbers.length === 0) return false
      lengthen.run(text.addWhole(row.scope_id, numbers), row.scope_id)
      last = numbers.at(-1)!
      return true
    },
  }
}
