import { createHash } from 'node:crypto'
import { type Column, movedColumns, type SqliteRow, type Value } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'

/** A digest of rows in any order: the sum of each row's SHA-256 over both sides' columns. `read` gives a value. */
export function createRowsDigest(table: MovedTable, read: typeof valueInFolder) {
  const columns = movedColumns(table).filter(([, { type, compared }]) => type !== 'tsvector' && compared !== false)
  let sum = 0n
  return {
    add(row: SqliteRow) {
      const hash = createHash('sha256')
      for (const [name, column] of columns) {
        const value = read(row, name, column)
        hash.update(value instanceof Uint8Array ? value : JSON.stringify(value)).update('\n')
      }
      sum += BigInt(`0x${hash.digest('hex')}`)
    },
    /** The sum so far; equal rows have the same. */
    sum: () => sum,
  }
}

/** The value of a column in a row of a data folder, which computes those that only PostgreSQL has. */
export function valueInFolder(row: SqliteRow, name: string, { derived }: Column): Value {
  const value = derived ? derived(row) : row[name]!
  return typeof value === 'boolean' ? Number(value) : value
}

/** The same in a row of PostgreSQL. */
export function valueInPostgres(row: SqliteRow, name: string): Value {
  return row[name]!
}
