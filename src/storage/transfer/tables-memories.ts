import { labelColumns } from '../shared/memory-rows.ts'
import { ofLivePersona, ofLiveScope } from './live-rows.ts'
import { plain, type SqliteRow, type TransferTable } from './table.ts'

const label = (name: 'speaker' | 'is_lore') => (row: SqliteRow) =>
  labelColumns(JSON.parse(row['metadata'] as string))[name]

/** Memories with their vectors. The full-text index of each side is made anew from the same terms. */
export const memoryTables: readonly TransferTable[] = [
  {
    name: 'memory_scope',
    rows: 'scopes',
    columns: {
      ...plain('int4', 'scope_id last_number memories'),
      ...plain('text', 'persona_id user_id'),
      ...plain('int8', 'length bytes lore'),
    },
    order: 'scope_id',
    where: ofLivePersona,
  },
  {
    name: 'memory',
    rows: 'memories',
    columns: {
      memory_id: { type: 'int8' },
      scope_id: { type: 'int4' },
      ...plain('text', 'id content category conversation metadata'),
      digest: { type: 'bytea' },
      ...plain('int8', 'timestamp stored_at'),
      ...plain('float8', 'importance worth'),
      pinned: { type: 'bool' },
      speaker: { type: 'text', derived: label('speaker') },
      is_lore: { type: 'bool', derived: label('is_lore') },
    },
    order: 'memory_id',
    where: ofLiveScope,
  },
  {
    name: 'memory_terms',
    rows: 'terms of memories',
    columns: { ...plain('int8', 'memory_id'), ...plain('text', 'terms about context') },
    order: 'memory_id',
    where: ofLiveScope,
  },
  {
    name: 'memory_posting',
    rows: 'index of memories',
    columns: { ...plain('int4', 'scope_id block'), ...plain('text', 'term'), ...plain('bytea', 'own around') },
    order: 'scope_id, block, term',
    isInFiles: true,
  },
  {
    name: 'embedding_space',
    rows: 'spaces of vectors',
    columns: { ...plain('int4', 'space_id dimension'), ...plain('text', 'key model') },
    order: 'space_id',
  },
  {
    name: 'memory_vector',
    rows: 'vectors',
    columns: { ...plain('int8', 'memory_id'), ...plain('int4', 'space_id'), vector: { type: 'vector' } },
    order: 'memory_id',
    where: ofLiveScope,
  },
  {
    name: 'memory_sketch',
    rows: 'sketches of vectors',
    columns: { ...plain('int8', 'memory_id'), ...plain('int4', 'space_id'), bits: { type: 'varbit' } },
    order: 'memory_id',
    where: ofLiveScope,
  },
  {
    name: 'memory_eviction',
    rows: 'evictions',
    columns: {
      ...plain('int8', 'eviction_id timestamp evicted_at'),
      ...plain('int4', 'scope_id'),
      ...plain('text', 'id reason'),
      ...plain('float8', 'importance'),
    },
    order: 'eviction_id',
    where: `scope_id IN (SELECT scope_id FROM memory_scope WHERE ${ofLivePersona})`,
  },
  {
    name: 'memory_carried',
    rows: 'passthrough fields of memories',
    columns: { ...plain('int8', 'memory_id'), ...plain('text', 'fields') },
    order: 'memory_id',
    where: ofLiveScope,
  },
  {
    name: 'memory_proposal',
    rows: 'proposals',
    columns: {
      ...plain('int8', 'number memory_id created_at claimed_at'),
      ...plain('text', 'id content folded model status accepted_as'),
      ...plain('float8', 'confidence'),
    },
    order: 'number',
    where: ofLiveScope,
  },
]
