import { createHash } from 'node:crypto'
import type { Transaction } from '../postgres/sql.ts'
import type { VectorColumn } from '../postgres/vectors-table.ts'
import { type Column, comparedColumns, movedColumns, type SqliteRow, type Value } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import type { Batch } from './batches.ts'
import { copyHeader, copyTrailer, createRowReader } from './copy-format.ts'

/** A database as a side of a transfer: one transaction. */
export interface PostgresSide {
  readonly tx: Transaction
  /** How it keeps vectors. */
  readonly vectors: VectorColumn
  /** Whether rows are in it that are on their way in or out. */
  readonly hasHidden: boolean
}

/** Writes the rows of a table; resolves with the SHA-256, in hex, of what both sides must have alike. */
export async function copyInto(side: PostgresSide, table: MovedTable, batches: AsyncIterable<Batch>): Promise<string> {
  const hash = createHash('sha256').update(copyHeader)
  let failure: { readonly reason: unknown } | undefined
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield copyHeader
      for await (const { all, compared } of batches) {
        hash.update(compared)
        yield all
      }
      yield copyTrailer
    } catch (reason) {
      failure = { reason }
      throw reason
    }
  }
  const columns = movedColumns(table).map(([name]) => columnIn(side, table, name))
  try {
    await side.tx.copyIn(`COPY ${table.name} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`, chunks())
  } catch (reason) {
    // The server says that the copy was given up, and not why.
    throw failure ? failure.reason : reason
  }
  return hash.update(copyTrailer).digest('hex')
}

/** The digest of the rows that are there now. */
export async function digestIn(side: PostgresSide, table: MovedTable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of side.tx.copyOut(copyOut(side, table, comparedColumns(table)))) hash.update(chunk)
  return hash.digest('hex')
}

/** The rows of a table in their order, some at a time. */
export async function* rowsFrom(side: PostgresSide, table: MovedTable): AsyncGenerator<readonly SqliteRow[], void> {
  // Lists of terms are made again.
  const columns = movedColumns(table).filter(([, { type }]) => type !== 'tsvector')
  const names = columns.map(([name]) => name)
  const reader = createRowReader(columns.map(([, { type }]) => type))
  for await (const chunk of side.tx.copyOut(copyOut(side, table, columns))) {
    const rows = reader.read(chunk)
    if (rows.length > 0) yield rows.map((values) => named(names, values))
  }
  reader.end()
}

function named(names: readonly string[], values: readonly Value[]): SqliteRow {
  const row: Record<string, Value> = {}
  for (let at = 0; at < names.length; at++) row[names[at]!] = values[at]!
  return row
}

/** The number of a table's rows. */
export async function countOf({ tx }: PostgresSide, { name }: MovedTable): Promise<number> {
  return (await tx.row<{ count: number }>(`SELECT count(*) AS count FROM ${name}`))!.count
}

function copyOut(side: PostgresSide, table: MovedTable, columns: readonly [string, Column][]): string {
  const { name, order, where } = table
  const names = columns.map(([column]) => columnIn(side, table, column))
  // Without the condition a large table is read in the order of its key.
  const condition = side.hasHidden && where !== undefined ? `WHERE ${where}` : ''
  return `COPY (SELECT ${names.join(', ')} FROM ${name} ${condition} ORDER BY ${order}) TO STDOUT (FORMAT binary)`
}

function columnIn({ vectors }: PostgresSide, { name }: MovedTable, column: string): string {
  return name === 'memory_vector' && column === 'vector' ? vectors : `"${column}"`
}
