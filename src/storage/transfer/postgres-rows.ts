import { yieldToEventLoop } from '../../process/process.ts'
import type { Transaction } from '../postgres/sql.ts'
import { readVector, writeVector } from '../postgres/vector-wire.ts'
import type { VectorColumn } from '../postgres/vectors-table.ts'
import { type ColumnType, movedColumns, type SqliteRow, type Value } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import { bytesOf, valuesOf } from '../shared/vector-bytes.ts'
import { createRowsDigest, valueInFolder, valueInPostgres } from './rows-digest.ts'

/** A database as a side of a transfer: one transaction. */
export interface PostgresSide {
  readonly tx: Transaction
  /** How it keeps vectors. */
  readonly vectors: VectorColumn
}

/** What one statement brings at most: a statement takes 65,535 values. A single larger row has a statement of its own. */
const atOnce = { bytes: 256 * 1024, values: 20_000 } as const

/** Writes rows of a data folder's table; undefined stands where the event loop may run. Resolves with their digest. */
export async function insertRows(
  side: PostgresSide,
  table: MovedTable,
  rows: Iterable<SqliteRow | undefined>,
): Promise<bigint> {
  const columns = movedColumns(table)
  const names = columns.map(([name]) => columnIn(side, table, name))
  let values: unknown[] = []
  let bytes = 0
  const digest = createRowsDigest(table, valueInFolder)
  const write = async () => {
    let place = 0
    const places = Array.from(
      { length: values.length / columns.length },
      () => `(${columns.map(([, { type }]) => placeOf(type, ++place)).join(', ')})`,
    )
    if (place > 0)
      await side.tx.run(`INSERT INTO ${table.name} (${names.join(', ')}) VALUES ${places.join(', ')}`, values)
    values = []
    bytes = 0
  }
  for (const row of rows) {
    if (!row) {
      await yieldToEventLoop()
      continue
    }
    digest.add(row)
    for (const [name, column] of columns) {
      const value = valueInFolder(row, name, column)
      values.push(valueFor(column.type, value))
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
    }
    if (bytes >= atOnce.bytes || values.length >= atOnce.values) await write()
  }
  await write()
  return digest.sum()
}

function placeOf(type: ColumnType, place: number): string {
  return type === 'tsvector' ? `array_to_tsvector($${place}::text[])` : `$${place}`
}

/** A value as the server takes it: vectors in its binary format, bits as text. */
function valueFor(type: ColumnType, value: Value): unknown {
  if (!(value instanceof Uint8Array)) return value
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  if (type === 'vector') return writeVector(valuesOf(bytes))
  return type === 'varbit' ? `x${bytes.toString('hex')}` : bytes
}

/** Rows that are read at once; of tables with large values fewer. */
const fetched = 500
const fetchedOfLarge = 8
const large = new Set(['persona_backup_part', 'conversation_file'])

/** The rows of a table in the order of its key, some at a time. */
export async function* rowsFrom(side: PostgresSide, table: MovedTable): AsyncGenerator<readonly SqliteRow[], void> {
  const { name, key, where = 'true' } = table
  // Lists of terms are made again.
  const columns = movedColumns(table).filter(([, { type }]) => type !== 'tsvector')
  const selected = columns.map(([column, { type }]) => {
    const own = columnIn(side, table, column)
    if (type === 'varbit') return `varbit_send(${own}) AS "${column}"`
    return type === 'vector' && side.vectors === 'vector'
      ? `vector_send(${own}) AS "${column}"`
      : `${own} AS "${column}"`
  })
  const order = key === undefined ? '' : `ORDER BY ${key}`
  await side.tx.script(
    `DECLARE moved NO SCROLL CURSOR FOR SELECT ${selected.join(', ')} FROM ${name} WHERE ${where} ${order}`,
  )
  const next = () =>
    side.tx.rows<Record<string, Value>>(`FETCH ${large.has(name) ? fetchedOfLarge : fetched} FROM moved`)
  for (let rows = await next(); rows.length > 0; rows = await next())
    yield rows.map((row) =>
      Object.fromEntries(columns.map(([column, { type }]) => [column, valueFrom(type, row[column]!)])),
    )
  await side.tx.script('CLOSE moved')
}

/** A value as SQLite keeps it. */
function valueFrom(type: ColumnType, value: Value): Value {
  if (typeof value === 'boolean') return Number(value)
  if (!(value instanceof Uint8Array)) return value
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  if (type === 'vector') return bytesOf(readVector(bytes))
  return type === 'varbit' ? bytes.subarray(4) : bytes
}

/** The digest of the rows that are there now. */
export async function digestIn(side: PostgresSide, table: MovedTable): Promise<bigint> {
  const digest = createRowsDigest(table, valueInPostgres)
  for await (const rows of rowsFrom(side, table)) for (const row of rows) digest.add(row)
  return digest.sum()
}

/** The number of a table's rows. */
export async function countOf({ tx }: PostgresSide, { name, where = 'true' }: MovedTable): Promise<number> {
  return (await tx.row<{ count: number }>(`SELECT count(*) AS count FROM ${name} WHERE ${where}`))!.count
}

function columnIn({ vectors }: PostgresSide, { name }: MovedTable, column: string): string {
  return name === 'memory_vector' && column === 'vector' ? vectors : `"${column}"`
}
