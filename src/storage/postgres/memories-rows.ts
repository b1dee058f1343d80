import { isPinned, type Metadata, type NewMemory, speakerOf } from '../../personas/memory/memory.ts'
import { rowOf } from '../shared/memory-rows.ts'
import type { ColumnTypes } from './insert-rows.ts'

/** A new memory as its table keeps it. */
export type NewRow = ReturnType<typeof newRow>

/** The columns of a new memory that is stored `now`. */
export function newRow(number: number, scopeId: number, memory: NewMemory, digest: Buffer, now: number) {
  const { metadata } = memory
  return { ...rowOf(number, scopeId, memory, digest, now), ...labelColumns(metadata) }
}

/** The columns of `memory` that follow from its metadata, and are no part of SQLite's table or of another type there. */
export function labelColumns(metadata: Metadata) {
  return { pinned: isPinned(metadata), speaker: speakerOf(metadata), is_lore: Array.isArray(metadata['keys']) }
}

/** The types of a new memory's columns. */
export const memoryTypes: ColumnTypes<NewRow> = {
  memory_id: 'bigint',
  scope_id: 'int',
  id: 'text',
  content: 'text',
  digest: 'bytea',
  timestamp: 'bigint',
  importance: 'double precision',
  stored_at: 'bigint',
  worth: 'double precision',
  category: 'text',
  pinned: 'boolean',
  conversation: 'text',
  speaker: 'text',
  is_lore: 'boolean',
  metadata: 'text',
}
