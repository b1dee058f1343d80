import { movedColumns, type SqliteRow } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import type { Database } from '../sqlite/connection.ts'
import { backupFileRows, readBackupParts } from './backup-parts.ts'
import { activePluginRows, pluginRows } from './plugin-files.ts'
import { postingRows } from './postings.ts'

/**
 * A data folder as a side of a transfer: its database, locked against changes meanwhile, and the folders of its files.
 */
export interface FolderSide {
  readonly db: Database
  readonly plugins: string
  /** Of personas. */
  readonly backups: string
}

/** The rows of a table in its order, read one after another; undefined where the event loop may run before the next. */
export function rowsIn(side: FolderSide, table: MovedTable): Iterable<SqliteRow | undefined> {
  if (table.only !== 'postgres') return side.db.prepare<[], SqliteRow>(selectOf(table)).iterate()
  switch (table.name) {
    case 'plugin':
      return pluginRows(side.plugins)
    case 'plugin_active':
      return activePluginRows(side.plugins)
    case 'persona_backup_file':
      return backupFileRows(side.db, side.backups)
    case 'persona_backup_part':
      return readBackupParts(side.db, side.backups)
    default:
      return postingRows(side.db)
  }
}

/** The number of a table's rows, as far as it is cheap to tell. */
export function countIn({ db }: FolderSide, table: MovedTable): number {
  if (table.only === 'postgres') return 0
  return db
    .prepare<[], number>(`SELECT count(*) FROM "${table.sqlite ?? table.name}"`)
    .pluck()
    .get()!
}

function selectOf(table: MovedTable): string {
  const { name, sqlite = name, reads = {}, order, where = 'TRUE' } = table
  const wanted = movedColumns(table).flatMap(([column, { sqlite: own, expression, derived }]) =>
    derived ? [] : [`${expression ?? (own === 'rowid' ? own : `"${own ?? column}"`)} AS "${column}"`],
  )
  const more = Object.entries(reads).map(([column, expression]) => `${expression} AS "${column}"`)
  return `SELECT ${[...wanted, ...more].join(', ')} FROM "${sqlite}" WHERE ${where} ORDER BY ${order}`
}
