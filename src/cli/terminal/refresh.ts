import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { printableLine } from '../../formats/terminal-text.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Cli } from './cli.ts'
import { note, print } from './output.ts'
import { openProgress } from './progress.ts'
import { type Column, table } from './table.ts'

/** What became of the models or the prices of a plugin. */
interface Row {
  readonly plugin: string
  readonly before: number
  readonly after: number
  readonly added: readonly string[]
  readonly changed?: readonly string[]
  readonly removed: readonly string[]
  readonly warnings: readonly string[]
  readonly skipped: string | null
  readonly error: string | null
}

export interface RefreshOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly strict?: boolean
}

/** The field of a request with the named plugins; none for all. Throws `usage` unless either is chosen. */
export function pluginsIn(ids: readonly string[], { all }: RefreshOptions): { readonly plugins?: string[] } {
  if (ids.length === 0 && !all) throw new AppError('usage', 'Name the plugins to refresh, or add --all')
  if (ids.length > 0 && all) throw new AppError('usage', 'Use either plugin names or --all, not both')
  return ids.length > 0 ? { plugins: [...ids] } : {}
}

/** A piece of a refresh that streams: first the number of its plugins, then a row for each. */
interface Piece<R> {
  readonly total?: number
  readonly row?: R
}

/** Refreshes plugins with a progress bar; rows are in the order of the plugins that were named, else by their ids. */
export async function refreshedRows<I extends z.ZodType, R extends Row>(
  cli: Cli,
  operation: Operation<I>,
  input: z.input<I> & { readonly plugins?: readonly string[] | undefined },
): Promise<readonly R[]> {
  const progress = openProgress(cli)
  const rows: R[] = []
  let total = 1
  try {
    for await (const piece of await cli.askStream(operation, { ...(input as object), stream: true } as z.input<I>)) {
      const { total: count, row } = piece as Piece<R>
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

/** Prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function printRefresh<R extends Row>(
  cli: Cli,
  rows: readonly R[],
  { dryRun, strict }: RefreshOptions,
  isWritten: (row: R) => boolean,
): Promise<void> {
  const changed: Column<R> = ['CHANGED', (row) => String(row.changed?.length)]
  await print(cli, { plugins: rows }, () =>
    table(cli, rows, [
      ['PLUGIN', (row) => row.plugin],
      ['BEFORE', (row) => String(row.before)],
      ['AFTER', (row) => String(row.after)],
      ['ADDED', (row) => String(row.added.length)],
      ...(rows.some((row) => row.changed) ? [changed] : []),
      ['REMOVED', (row) => String(row.removed.length)],
      ['', (row) => outcome(row, isWritten(row))],
    ]),
  )
  if (dryRun && !cli.globals().json) await showChanges(cli, rows)
  for (const { plugin, warnings, error } of rows)
    for (const line of error === null ? warnings : [...warnings, error]) note(cli, `aichat: ${plugin}: ${line}`)
  if (rows.some(({ error, skipped }) => error !== null || (strict && skipped !== null))) cli.exit = 1
}

function outcome({ error, skipped, added, changed = [], removed }: Row, isWritten: boolean): string {
  if (error !== null) return 'failed'
  if (skipped !== null) return `skipped: ${skipped}`
  if (isWritten) return 'refreshed'
  return added.length + changed.length + removed.length > 0 ? 'would change' : 'unchanged'
}

/** Prints a line for each added, changed or removed model. */
async function showChanges(cli: Cli, rows: readonly Row[]): Promise<void> {
  for (const { plugin, added, changed = [], removed } of rows)
    for (const [mark, names] of [['+', added] as const, ['~', changed] as const, ['-', removed] as const])
      for (const name of names) await cli.io.out(`${mark} ${plugin} ${printableLine(name)}\n`)
}
