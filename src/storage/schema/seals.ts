import { optional, required, type Table } from './table.ts'

/**
 * Evidence of this program's own writes, against which an edit by another program shows: see shared/seals.ts. No table here
 * refers to the sealed one, so that a row which another program removes leaves its seal.
 */
export const sealTables: readonly Table[] = [
  {
    // The key that all seals were made with, by its digest, and since when.
    name: 'seal_key',
    key: 'key_id',
    isWithoutRowid: true,
    columns: {
      ...required('text', 'key_id'),
      ...required('int8', 'since'),
      ...required('bytea', 'sealed'),
      // The key itself, for the instances that know JWT_SECRET: see postgres/seals.ts.
      wrapped: { type: 'bytea', only: 'postgres' },
    },
  },
  {
    name: 'persona_seal',
    key: 'persona_id',
    isWithoutRowid: true,
    columns: {
      ...required('text', 'persona_id'),
      ...optional('int4', 'scope_id'),
      ...required('bytea', 'persona'),
      ...optional('bytea', 'state'),
      ...required('bytea', 'sealed'),
    },
  },
  {
    name: 'memory_scope_seal',
    key: 'scope_id',
    fillfactor: 50,
    columns: {
      ...required('int4', 'scope_id'),
      ...required('int8', 'memories'),
      // In SQLite the seal begins with it.
      sum: { type: 'numeric', only: 'postgres' },
      ...required('bytea', 'sealed'),
    },
  },
  {
    name: 'memory_seal',
    key: 'memory_id',
    fillfactor: 70,
    columns: {
      ...required('int8', 'memory_id'),
      ...required('text', 'id'),
      ...required('bytea', 'sealed'),
      ...optional('bytea', 'vector'),
    },
  },
]
