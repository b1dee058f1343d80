import { optional, required, type Table } from './table.ts'

/**
 * Evidence of this program's own writes, against which an edit by another program shows: see sqlite/seals.ts. No table here
 * refers to the sealed one, so that a row which another program removes leaves its seal.
 */
export const sealTables: readonly Table[] = [
  {
    // The key that all seals were made with, by its digest, and since when.
    name: 'seal_key',
    only: 'sqlite',
    key: 'key_id',
    isWithoutRowid: true,
    columns: { ...required('text', 'key_id'), ...required('int8', 'since'), ...required('bytea', 'sealed') },
  },
  {
    name: 'persona_seal',
    only: 'sqlite',
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
    only: 'sqlite',
    key: 'scope_id',
    columns: { ...required('int4', 'scope_id memories'), ...required('bytea', 'sealed') },
  },
  {
    name: 'memory_seal',
    only: 'sqlite',
    key: 'memory_id',
    columns: {
      ...required('int8', 'memory_id'),
      ...required('text', 'id'),
      ...required('bytea', 'sealed'),
      ...optional('bytea', 'vector'),
    },
  },
]
