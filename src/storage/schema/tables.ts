import { accountTables } from './accounts.ts'
import { chatTables } from './chats.ts'
import { memoryTables } from './memories.ts'
import { personaTables } from './personas.ts'
import { optional, required, type Table } from './table.ts'
import { usageTables } from './usage.ts'

/** The installation that the instances of a PostgreSQL share, and the counters by which they see each other's changes. */
const installationTables: readonly Table[] = [
  {
    // A counter for each kind of cached data, raised in the transaction of each write: see changes.ts.
    name: 'change',
    only: 'postgres',
    key: 'kind',
    columns: { ...required('text', 'kind'), ...required('int8', 'number') },
    firstRows: `('accounts', 0), ('limits', 0), ('plugins', 0), ('prices', 0)`,
  },
  {
    // One row that names the installation of the database: see installation.ts.
    name: 'installation',
    only: 'postgres',
    key: 'only_one',
    columns: {
      only_one: { type: 'bool', default: true, postgres: 'CHECK (only_one)' },
      ...required('text', 'id'),
      secret_print: { type: 'bytea', isOptional: true },
      had_accounts: { type: 'bool', default: false },
    },
  },
]

/**
 * Evidence of this program's own writes, against which an edit by another program shows: see shared/seals.ts. No table here
 * refers to the sealed one, so that a row which another program removes leaves its seal.
 */
const sealTables: readonly Table[] = [
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

/** All tables of both databases, each behind those that its rows name. */
const tables: readonly Table[] = [
  ...installationTables,
  ...accountTables,
  ...personaTables,
  ...memoryTables,
  ...sealTables,
  ...chatTables,
  ...usageTables,
]

/** A table whose rows a transfer moves. */
export interface MovedTable extends Table {
  readonly rows: string
  readonly order: string
}

/** The tables whose rows a transfer moves: all that an installation keeps. */
export const movedTables: readonly MovedTable[] = tables.flatMap((table) => {
  const { rows, key, order = key } = table
  return rows !== undefined && order !== undefined ? [{ ...table, rows, order }] : []
})

/** The tables of one database. */
export function tablesOf(database: 'sqlite' | 'postgres'): readonly Table[] {
  return tables.filter(({ only }) => only === undefined || only === database)
}
