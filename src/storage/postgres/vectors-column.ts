import { codeOf } from './errors.ts'
import type { Database, Sql } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

const columns = new WeakMap<Sql, Promise<VectorColumn>>()

/** The SQLSTATE of a statement that names a column which is not there. */
const undefinedColumn = '42703'

/**
 * Runs work that reads or writes vectors, and again where another process has changed the database over to pgvector
 * meanwhile: it changes nothing but rows, in one transaction.
 */
export async function withVectors<R>(db: Database, work: (column: VectorColumn) => Promise<R>): Promise<R> {
  try {
    return await work(await vectorColumn(db))
  } catch (reason) {
    if (codeOf(reason) !== undefinedColumn) throw reason
    forgetColumn(db)
    return work(await vectorColumn(db))
  }
}

/** Has the column be asked for again. */
export function forgetColumn(db: Database): void {
  columns.delete(db)
}

/** How this database keeps vectors; asked once. */
export function vectorColumn(db: Sql): Promise<VectorColumn> {
  const known = columns.get(db)
  if (known) return known
  const reading = readColumn(db).catch((reason) => {
    columns.delete(db)
    throw reason
  })
  columns.set(db, reading)
  return reading
}

async function readColumn(db: Sql): Promise<VectorColumn> {
  const row = await db.row<{ attname: VectorColumn }>(
    `SELECT attname FROM pg_attribute
      WHERE attrelid = to_regclass('memory_vector') AND attname IN ('vector', 'bytes') AND NOT attisdropped`,
  )
  return row?.attname ?? 'bytes'
}
