import type { z } from 'zod'
import type { Operation } from '../../operations/operation.ts'
import type { Cli } from './cli.ts'
import { openProgress } from './progress.ts'

/** A piece of a refresh that streams: first the number of its plugins, then a row for each. */
interface Piece<Row> {
  readonly total?: number
  readonly row?: Row
}

/** Refreshes plugins with a progress bar; rows are in the order of the plugins that were named, else by their ids. */
export async function refreshedRows<I extends z.ZodType, Row extends { readonly plugin: string }>(
  cli: Cli,
  operation: Operation<I>,
  input: z.input<I> & { readonly plugins?: readonly string[] | undefined },
): Promise<readonly Row[]> {
  const progress = openProgress(cli)
  const rows: Row[] = []
  let total = 1
  try {
    for await (const piece of await cli.askStream(operation, { ...(input as object), stream: true } as z.input<I>)) {
      const { total: count, row } = piece as Piece<Row>
      if (count !== undefined) total = Math.max(1, count)
      if (row) rows.push(row)
      progress.show(rows.length / total, row ? `${row.plugin} done` : 'asking the providers')
    }
  } finally {
    progress.clear()
  }
  const order = input.plugins ?? rows.map((row) => row.plugin).sort()
  return rows.sort((a, b) => order.indexOf(a.plugin) - order.indexOf(b.plugin))
}
