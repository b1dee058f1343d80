import type { Sql } from './sql.ts'

/** The columns of a table that are written, each with its type. */
export type ColumnTypes<R> = { readonly [C in keyof R]: string }

/**
 * Inserts rows by one statement with the same text for any number of rows.
 * @param more the clause behind the rows, such as `ON CONFLICT …`
 */
export async function insertRows<R extends object>(
  sql: Sql,
  table: string,
  types: ColumnTypes<R>,
  rows: readonly R[],
  more = '',
): Promise<void> {
  if (rows.length === 0) return
  const columns = Object.keys(types) as (keyof R & string)[]
  await sql.run(
    `INSERT INTO ${table} (${columns.join(', ')})
     SELECT * FROM unnest(${columns.map((column, at) => `$${at + 1}::${types[column]}[]`).join(', ')}) ${more}`,
    columns.map((column) => rows.map((row) => row[column])),
  )
}
