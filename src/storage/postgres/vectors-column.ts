import type { Sql } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

const columns = new WeakMap<Sql, Promise<VectorColumn>>()

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
