import { yieldToEventLoop } from '../../process/process.ts'
import { comparedColumns, movedColumns, type SqliteRow, type Value } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import { createRowWriter } from './copy-format.ts'

/** Rows of a table in the format of COPY, without its header and end. */
export interface Batch {
  /** All columns. */
  readonly all: Buffer
  /** Those that both sides must have alike. */
  readonly compared: Buffer
}

/** Bytes of a batch: some milliseconds' work. A single larger row is a batch of its own. */
const batchBytes = 256 * 1024

/** Writes rows of a table as batches, and yields to the event loop between them, and where there is none. */
export async function* batchesOf(table: MovedTable, rows: Iterable<SqliteRow | undefined>): AsyncGenerator<Batch> {
  const columns = movedColumns(table)
  const compared = comparedColumns(table)
  const writer = createRowWriter(columns.map(([, { type }]) => type))
  const comparedWriter =
    compared.length === columns.length ? undefined : createRowWriter(compared.map(([, { type }]) => type))
  const read = (row: SqliteRow, [name, { derived }]: (typeof columns)[number]): Value =>
    derived ? derived(row) : row[name]!
  const batch = (): Batch => {
    const all = writer.take()
    return { all, compared: comparedWriter?.take() ?? all }
  }
  for (const row of rows) {
    if (!row) {
      await yieldToEventLoop()
      continue
    }
    writer.row(columns.map((column) => read(row, column)))
    comparedWriter?.row(compared.map((column) => read(row, column)))
    if (writer.length < batchBytes) continue
    yield batch()
    await yieldToEventLoop()
  }
  if (writer.length > 0) yield batch()
}
