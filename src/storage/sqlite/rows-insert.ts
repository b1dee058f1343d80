import type { Database } from './connection.ts'

/**
 * Inserts several rows by one statement. A table with triggers or foreign keys has each statement keep a copy of every page that it
 * changes, so that it can be taken back: rows of one statement share the copies.
 * @param columns a comma between them
 */
export function createRowsInsert(
  db: Database,
  table: string,
  columns: string,
): (rows: readonly (readonly unknown[])[]) => void {
  const places = `(${columns.replaceAll(/\w+/g, '?')})`
  const prepared = new Map<number, ReturnType<Database['prepare']>>()
  return (rows) => {
    if (rows.length === 0) return
    let statement = prepared.get(rows.length)
    if (!statement) {
      statement = db.prepare(`INSERT INTO ${table} (${columns}) VALUES ${Array(rows.length).fill(places).join(', ')}`)
      prepared.set(rows.length, statement)
    }
    statement.run(rows.flat())
  }
}
