import { makeFolder } from '../../formats/formats.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { type SqliteRow, sqliteColumns, type Value } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import type { Database } from '../sqlite/connection.ts'
import { indexMessage } from '../sqlite/conversations-text.ts'
import { writeBackupPart } from './backup-parts.ts'
import type { FolderSide } from './folder-rows.ts'
import { writeActivePlugin, writePlugin } from './plugin-files.ts'

/** Writes rows into a new database without other users, and new folders next to it. */
export interface FolderTarget {
  /** Writes rows of a table. */
  writer(table: MovedTable): (rows: readonly SqliteRow[]) => void
  /** Makes the full-text indexes, some rows at a time, and puts the triggers back. */
  finish(lastPrice: number): Promise<void>
}

/** Counters and marks that triggers keep come with the rows, so that the triggers rest. */
export function createFolderTarget({ db, plugins, backups }: FolderSide): FolderTarget {
  for (const folder of [plugins, backups]) makeFolder(folder)
  const triggers = db
    .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all()
  db.exec('BEGIN')
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`)
  return {
    writer(table) {
      if (table.only !== 'postgres') return insertInto(db, table)
      if (table.name === 'plugin') return each((row) => writePlugin(plugins, row))
      if (table.name === 'plugin_active') return each((row) => writeActivePlugin(plugins, row))
      if (table.name === 'persona_backup_part') return each((row) => writeBackupPart(backups, row))
      return () => {}
    },
    async finish(lastPrice) {
      await indexMemories(db)
      await indexMessages(db)
      for (const { sql } of triggers) db.exec(sql)
      db.exec(`DELETE FROM sqlite_sequence WHERE name = 'price'`)
      db.prepare(`INSERT INTO sqlite_sequence (name, seq) VALUES ('price', ?)`).run(lastPrice)
      db.exec('COMMIT')
    },
  }
}

function each(write: (row: SqliteRow) => unknown): (rows: readonly SqliteRow[]) => void {
  return (rows) => {
    for (const row of rows) write(row)
  }
}

function insertInto(db: Database, table: MovedTable): (rows: readonly SqliteRow[]) => void {
  const { name, sqlite = name, firstRows } = table
  if (firstRows !== undefined) db.exec(`DELETE FROM "${sqlite}"`)
  const ownNames = new Map(Object.entries(table.columns).map(([column, { sqlite: own = column }]) => [own, column]))
  const values: [column: string, valueOf: (row: SqliteRow) => Value][] = [
    ...sqliteColumns(table).map(([column, { derived }]): [string, (row: SqliteRow) => Value] => {
      const moved = ownNames.get(column)!
      return [column, derived ?? ((row) => row[moved]!)]
    }),
    ...(ownNames.has('rowid')
      ? [['rowid', (row: SqliteRow) => row[ownNames.get('rowid')!]!] as [string, (row: SqliteRow) => Value]]
      : []),
  ]
  const names = values.map(([column]) => `"${column}"`)
  const insert = db.prepare(`INSERT INTO "${sqlite}" (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
  return each((row) => insert.run(values.map(([, read]) => read(row))))
}

/** Rows that are indexed in one turn of the event loop: some milliseconds' work. */
const indexedAtOnce = 200

async function indexMemories(db: Database): Promise<void> {
  const last = db
    .prepare<[number], number | null>(
      `SELECT max(memory_id) FROM (SELECT memory_id FROM memory_terms WHERE memory_id > ? ORDER BY memory_id LIMIT ${indexedAtOnce})`,
    )
    .pluck()
  const index = db.prepare(
    `INSERT INTO memory_text (rowid, content, about, context)
       SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id > ? AND memory_id <= ? ORDER BY memory_id`,
  )
  let before = 0
  for (let to = last.get(before); typeof to === 'number'; to = last.get(before)) {
    index.run(before, to)
    before = to
    await yieldToEventLoop()
  }
}

async function indexMessages(db: Database): Promise<void> {
  const next = db.prepare<[number], { text_id: number; user_id: string; message: string }>(
    `SELECT text_id, user_id, message FROM conversation_message JOIN conversation ON conversation.id = conversation_id
      WHERE text_id > ? ORDER BY text_id LIMIT ${indexedAtOnce}`,
  )
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.text_id)) {
    for (const { text_id, user_id, message } of rows) indexMessage(db, user_id, message, text_id)
    await yieldToEventLoop()
  }
}
