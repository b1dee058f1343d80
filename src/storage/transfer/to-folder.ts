import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { Transaction } from '../postgres/sql.ts'
import type { VectorColumn } from '../postgres/vectors-table.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import type { Database } from '../sqlite/connection.ts'
import { openDatabase } from '../sqlite/database.ts'
import { openAlone } from '../sqlite/reader.ts'
import { batchesOf } from './batches.ts'
import { copyHeader, copyTrailer } from './copy-format.ts'
import { type FolderSide, rowsIn } from './folder-rows.ts'
import { createFolderTarget } from './folder-target.ts'
import { countOf, digestIn, type PostgresSide, rowsFrom } from './postgres-rows.ts'
import { createProgress } from './progress.ts'
import { different } from './to-postgres.ts'

/** New places for all of a data folder, on one disk. */
export interface NewFolder {
  readonly database: string
  readonly plugins: string
  readonly backups: string
}

/**
 * Writes all of a database, as a transaction sees it, into a new database file and new folders, and compares both as
 * `fillPostgres` does. The files are on the disk when this resolves. The transaction is one of `repeatable read`.
 */
export async function fillFolder(
  { tx, vectors }: { readonly tx: Transaction; readonly vectors: VectorColumn },
  to: NewFolder,
  onProgress: (share: number) => void,
): Promise<void> {
  const db = await newDatabase(to.database)
  try {
    await fill({ tx, vectors, hasHidden: await hasHidden(tx) }, { db, ...to }, onProgress)
    db.pragma('journal_mode = DELETE')
  } finally {
    db.close()
    await flush(to.database)
  }
}

async function fill(side: PostgresSide, target: FolderSide, onProgress: (share: number) => void): Promise<void> {
  const { tx } = side
  // PostgreSQL's own index of memories is made of their terms.
  const moving = movedTables.filter(({ name }) => name !== 'memory_posting')
  const counts = new Map<MovedTable, number>()
  for (const table of moving) counts.set(table, await countOf(side, table))
  const progress = createProgress(counts, onProgress)
  const folder = createFolderTarget(target)
  for (const table of moving) {
    const write = folder.writer(table)
    for await (const rows of rowsFrom(side, table)) {
      write(rows)
      progress.copied(table, rows.length)
      await yieldToEventLoop()
    }
  }
  const last = await tx.row<{ last: number }>(
    `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('price', 'number')), 0) AS last`,
  )
  await folder.finish(last!.last)
  for (const table of moving) {
    if ((await digestIn(side, table)) !== (await folderDigest(target, table))) throw different(table)
    progress.compared(table)
  }
}

async function folderDigest(side: FolderSide, table: MovedTable): Promise<string> {
  const hash = createHash('sha256').update(copyHeader)
  for await (const { compared } of batchesOf(table, rowsIn(side, table))) hash.update(compared)
  return hash.update(copyTrailer).digest('hex')
}

async function hasHidden(tx: Transaction): Promise<boolean> {
  const row = await tx.row<{ hidden: boolean }>(
    `SELECT EXISTS (SELECT FROM persona WHERE substr(user_id, 1, 1) = '~')
         OR EXISTS (SELECT FROM memory_scope WHERE persona_id IS NULL) AS hidden`,
  )
  return row!.hidden
}

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
