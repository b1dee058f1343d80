import { labelColumns } from '../shared/memory-rows.ts'
import { ofLivePersona, ofLiveScope } from './live-rows.ts'
import { optional, required, type SqliteRow, type Table } from './table.ts'

const label = (name: 'speaker' | 'is_lore') => (row: SqliteRow) =>
  labelColumns(JSON.parse(row['metadata'] as string))[name]

/** The label of a memory in SQLite, which the metadata hold. */
const speaker = `(CASE json_type(metadata, '$.speaker') WHEN 'text' THEN metadata ->> '$.speaker' ELSE '' END)`

/** A memory with keys, which comes into prompts by them: see personas/memory/lore.ts. */
export const isLoreInSqlite = "json_type(metadata, '$.keys') = 'array'"

/**
 * Memories with their vectors, and what belongs to them. The full-text index of each side is made of the terms.
 *
 * A memory's number is scope_id · 2^24 + a count, so that a scope is one range of every index: no statement can reach beyond
 * its scope, and the cost of a search depends on its own scope.
 */
export const memoryTables: readonly Table[] = [
  {
    name: 'memory_scope',
    rows: 'scopes',
    key: 'scope_id',
    unique: ['persona_id, user_id'],
    fillfactor: 50,
    columns: {
      scope_id: { type: 'int4', isNumbered: true },
      // None for memories that were wiped and are removed in slices.
      persona_id: { type: 'text', isOptional: 'postgres', goesWith: 'persona.id' },
      ...required('text', 'user_id'),
      last_number: { type: 'int4', default: 0 },
      memories: { type: 'int4', default: 0 },
      length: { type: 'int8', default: 0 },
      bytes: { type: 'int8', default: 0 },
      // Counts the changes of its lore.
      lore: { type: 'int8', default: 0 },
    },
    indexes: { memory_scope_wiped: { postgres: 'scope_id WHERE persona_id IS NULL' } },
    where: ofLivePersona,
  },
  {
    name: 'memory',
    rows: 'memories',
    key: 'memory_id',
    unique: ['scope_id, id'],
    columns: {
      ...required('int8', 'memory_id'),
      scope_id: { type: 'int4', goesWith: 'memory_scope.scope_id' },
      ...required('text', 'id content'),
      ...required('bytea', 'digest'),
      ...required('int8', 'timestamp'),
      importance: { type: 'float8', check: 'importance BETWEEN 0 AND 1' },
      ...required('text', 'category'),
      ...required('bool', 'pinned'),
      ...required('text', 'conversation metadata'),
      stored_at: { type: 'int8', default: 0 },
      // The one of the least worth is removed first, see worthOf().
      worth: { type: 'float8', default: 0 },
      // They follow from the metadata, which are kept as text: PostgreSQL cannot read every JSON that it stores.
      speaker: { type: 'text', derived: label('speaker') },
      is_lore: { type: 'bool', derived: label('is_lore') },
    },
    // Pages are read in these orders, and in SQLite expired memories are passed over without a look at the table.
    indexes: {
      memory_digest: 'scope_id, digest',
      memory_time: {
        sqlite: 'scope_id, timestamp, memory_id, stored_at, pinned',
        postgres: 'scope_id, timestamp, memory_id',
      },
      memory_category: {
        sqlite: 'scope_id, category, timestamp, memory_id, stored_at, pinned',
        postgres: 'scope_id, category, timestamp, memory_id',
      },
      memory_speaker: {
        sqlite: `scope_id, ${speaker}, timestamp, memory_id, stored_at, pinned`,
        postgres: 'scope_id, speaker, timestamp, memory_id',
      },
      memory_order: 'scope_id, conversation, timestamp, memory_id',
      memory_age: { sqlite: 'scope_id, stored_at WHERE pinned = 0', postgres: 'scope_id, stored_at WHERE NOT pinned' },
      memory_worth: {
        sqlite: 'scope_id, worth, memory_id WHERE pinned = 0',
        postgres: 'scope_id, worth, memory_id WHERE NOT pinned',
      },
      memory_pinned: { sqlite: 'scope_id WHERE pinned = 1', postgres: 'scope_id WHERE pinned' },
      memory_lore: {
        sqlite: `scope_id, memory_id WHERE ${isLoreInSqlite}`,
        postgres: 'scope_id, memory_id WHERE is_lore',
      },
    },
    where: ofLiveScope,
  },
  {
    name: 'memory_terms',
    rows: 'terms of memories',
    key: 'memory_id',
    columns: {
      memory_id: { type: 'int8', goesWith: 'memory.memory_id' },
      ...required('text', 'terms about context'),
    },
    where: ofLiveScope,
  },
  {
    // PostgreSQL's full-text index: see memories-blocks.ts.
    name: 'memory_posting',
    rows: 'index of memories',
    only: 'postgres',
    key: 'scope_id, term, block',
    fillfactor: 80,
    columns: {
      scope_id: { type: 'int4', goesWith: 'memory_scope.scope_id' },
      ...required('text', 'term'),
      ...required('int4', 'block'),
      ...required('bytea', 'own around'),
    },
  },
  {
    name: 'embedding_space',
    rows: 'spaces of vectors',
    key: 'space_id',
    columns: {
      space_id: { type: 'int4', isNumbered: true },
      key: { type: 'text', isUnique: true },
      ...required('text', 'model'),
      ...required('int4', 'dimension'),
    },
  },
  {
    /**
     * Unit vectors as float32 in an ordinary table, and not in sqlite-vec's vec0. For the thousand vectors of a scope an
     * exact scan is as fast, every dimension fits into one table, and three traps are out of reach: vec0 allocates
     * chunk_size vectors (1,024 by default) per partition, 6 MB for a scope of one memory at 1,536 dimensions; its
     * default metric is L2; and an ORDER BY over a distance function, which here is right, there scans everything.
     */
    name: 'memory_vector',
    rows: 'vectors',
    key: 'memory_id',
    isMadeApart: true,
    columns: {
      memory_id: { type: 'int8', goesWith: 'memory.memory_id' },
      space_id: { type: 'int4', refersTo: 'embedding_space.space_id' },
      ...required('vector', 'vector'),
    },
    indexes: { memory_vector_space: { sqlite: 'space_id, memory_id' } },
    where: ofLiveScope,
  },
  {
    // One bit for each of a vector's components, its sign: a search chooses by them which vectors it compares exactly.
    name: 'memory_sketch',
    rows: 'sketches of vectors',
    key: 'memory_id',
    isMadeApart: true,
    columns: {
      memory_id: { type: 'int8', goesWith: 'memory_vector.memory_id' },
      ...required('int4', 'space_id'),
      ...required('varbit', 'bits'),
    },
    where: ofLiveScope,
  },
  {
    name: 'memory_eviction',
    rows: 'evictions',
    key: 'eviction_id',
    columns: {
      eviction_id: { type: 'int8', isNumbered: true },
      scope_id: { type: 'int4', goesWith: 'memory_scope.scope_id' },
      ...required('text', 'id reason'),
      ...required('int8', 'timestamp'),
      ...required('float8', 'importance'),
      ...required('int8', 'evicted_at'),
    },
    indexes: { memory_eviction_scope: 'scope_id, eviction_id' },
    where: `scope_id IN (SELECT scope_id FROM memory_scope WHERE ${ofLivePersona})`,
  },
  {
    name: 'memory_carried',
    rows: 'passthrough fields of memories',
    key: 'memory_id',
    columns: { memory_id: { type: 'int8', goesWith: 'memory.memory_id' }, ...required('text', 'fields') },
    where: ofLiveScope,
  },
  {
    // Which process embeds a scope's memories, and in which space its vectors are kept.
    name: 'embedding_lease',
    key: 'scope_id',
    columns: {
      scope_id: { type: 'int4', goesWith: 'memory_scope.scope_id' },
      ...required('text', 'holder'),
      ...required('int8', 'held_until'),
      ...required('text', 'model'),
      ...optional('text', 'space'),
      ...required('int8', 'kept_until'),
    },
  },
]
