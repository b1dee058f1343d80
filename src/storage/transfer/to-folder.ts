import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import type { Database } from '../sqlite/connection.ts'
import { openDatabase } from '../sqlite/database.ts'
import { openAlone } from '../sqlite/reader.ts'
import { type FolderSide, rowsIn } from './folder-rows.ts'
import { createFolderTarget } from './folder-target.ts'
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
