import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { type SqliteRow, sqliteColumns, type Value } from '../schema/table.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import type { Database } from '../sqlite/connection.ts'
import { indexMessage } from '../sqlite/conversations-text.ts'
import { openDatabase } from '../sqlite/database.ts'
import { openAlone } from '../sqlite/reader.ts'
import { writeBackupPart } from './backup-parts.ts'
import { type FolderSide, rowsIn } from './folder-rows.ts'
import { writeActivePlugin, writePlugin } from './plugin-files.ts'
import { countOf, type PostgresSide, rowsFrom } from './postgres-rows.ts'
import { createRowsDigest, valueInFolder, valueInPostgres } from './rows-digest.ts'
import { different } from './to-postgres.ts'

/** New places for all of a data folder, on one disk. */
export interface NewFolder {
  readonly database: string
  readonly plugins: string
  readonly backups: string
}

/**
 * Writes all of a database, as a transaction of `repeatable read` sees it, into a new database file and new folders, and
 * compares both as `fillPostgres` does. The files are on the disk when this resolves.
 */
export async function fillFolder(
  source: PostgresSide,
  to: NewFolder,
  onProgress: (share: number) => void,
): Promise<void> {
  const db = await newDatabase(to.database)
  try {
    await fill(source, { db, ...to }, onProgress)
    db.pragma('journal_mode = DELETE')
  } finally {
    db.close()
    await flush(to.database)
  }
}

async function fill(side: PostgresSide, target: FolderSide, onProgress: (share: number) => void): Promise<void> {
  // PostgreSQL's own index of memories is made of their terms.
  const moving = movedTables.filter(({ name }) => name !== 'memory_posting')
  const counts = new Map<MovedTable, number>()
  for (const table of moving) counts.set(table, await countOf(side, table))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 1)
  const folder = createFolderTarget(target)
  const digests = new Map<MovedTable, bigint>()
  let done = 0
  for (const table of moving) {
    const write = folder.writer(table)
    const digest = createRowsDigest(table, valueInPostgres)
    for await (const rows of rowsFrom(side, table)) {
      write(rows)
      for (const row of rows) digest.add(row)
      done += rows.length
      onProgress(done / total)
      await yieldToEventLoop()
    }
    digests.set(table, digest.sum())
  }
  const last = await side.tx.row<{ last: number }>(
    `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('price', 'number')), 0) AS last`,
  )
  await folder.finish(last!.last)
  for (const [table, digest] of digests) if ((await folderDigest(target, table)) !== digest) throw different(table)
}

async function folderDigest(side: FolderSide, table: MovedTable): Promise<bigint> {
  const digest = createRowsDigest(table, valueInFolder)
  let read = 0
  for (const row of rowsIn(side, table)) {
    if (row) digest.add(row)
    if (++read % rowsPerTurn === 0) await yieldToEventLoop()
  }
  return digest.sum()
}

/** Rows that are read in one turn of the event loop. */
const rowsPerTurn = 100

/** A new database, without a log: it is thrown away where its writing is cut off. */
async function newDatabase(path: string): Promise<Database> {
  makeFolder(dirname(path))
  const made = await openDatabase(path, { vectors: false })
  made.close()
  const db = openAlone(path)
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma('foreign_keys = OFF')
  // KiB.
  db.pragma('cache_size = -65536')
  return db
}

/** Waits for the disk off the event loop. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Writes rows into a new database and new folders; counters and marks come with the rows, so triggers rest. */
function createFolderTarget({ db, plugins, backups }: FolderSide) {
  for (const folder of [plugins, backups]) makeFolder(folder)
  const triggers = db
    .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all()
  db.exec('BEGIN')
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`)
  return {
    writer(table: MovedTable): (rows: readonly SqliteRow[]) => void {
      if (table.only !== 'postgres') return insertInto(db, table)
      if (table.name === 'plugin') return each((row) => writePlugin(plugins, row))
      if (table.name === 'plugin_active') return each((row) => writeActivePlugin(plugins, row))
      if (table.name === 'persona_backup_part') return each((row) => writeBackupPart(backups, row))
      return () => {}
    },
    /** Makes the full-text indexes, some rows at a time, and puts the triggers back. */
    async finish(lastPrice: number) {
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
