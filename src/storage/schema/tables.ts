import { accountTables } from './accounts.ts'
import { chatTables } from './chats.ts'
import { memoryTables } from './memories.ts'
import { personaTables } from './personas.ts'
import { required, type Table } from './table.ts'
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

/** All tables of both databases, each behind those that its rows name. */
const tables: readonly Table[] = [
  ...installationTables,
  ...accountTables,
  ...personaTables,
  ...memoryTables,
  ...chatTables,
  ...usageTables,
]

/** Tables of earlier builds that are no longer used: a database loses them when it is brought up. */
export const formerTables = [
  'seal_key',
  'persona_seal',
  'memory_scope_seal',
  'memory_seal',
  'memory_proposal',
  'memory_sketch_block',
  'response_events',
]

/** A table whose rows a transfer moves. */
export interface MovedTable extends Table {
  readonly rows: string
}

/** The tables whose rows a transfer moves: all that an installation keeps. */
export const movedTables: readonly MovedTable[] = tables.flatMap((table) => {
  const { rows } = table
  return rows === undefined ? [] : [{ ...table, rows }]
})

/** The tables of one database. */
export function tablesOf(database: 'sqlite' | 'postgres'): readonly Table[] {
  return tables.filter(({ only }) => only === undefined || only === database)
}
