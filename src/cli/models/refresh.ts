import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted, printableLine } from '../../formats/formats.ts'
import { refreshModels, restoreModels } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { table } from '../terminal/table.ts'

type Row = z.output<typeof refreshModels.output>['plugins'][number]

interface RefreshOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly strict?: boolean
}

/** Refreshes lists and prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function refresh(cli: Cli, ids: readonly string[], options: RefreshOptions): Promise<void> {
  const rows = await refreshedRows(cli, { ...fieldsOf(cli, refreshModels), ...pluginsIn(ids, options) })
  await print(cli, { plugins: rows }, () =>
    table(cli, rows, [
      ['PLUGIN', (row) => row.plugin],
      ['BEFORE', (row) => String(row.before)],
      ['AFTER', (row) => String(row.after)],
      ['ADDED', (row) => String(row.added.length)],
      ['REMOVED', (row) => String(row.removed.length)],
      ['', outcome],
    ]),
  )
  if (options.dryRun && !cli.globals().json) await showChanges(cli, rows)
  for (const { plugin, warnings, error } of rows)
    for (const line of error === null ? warnings : [...warnings, error]) note(cli, `aichat: ${plugin}: ${line}`)
  if (rows.some(({ error, skipped }) => error !== null || (options.strict && skipped !== null))) cli.exit = 1
}

/** Restores the list before the last change. */
export async function restore(cli: Cli, plugin: string): Promise<void> {
  const row = await cli.ask(restoreModels, { plugin })
  await print(cli, row, ({ before, after }) => `${plugin}: back from ${before} to ${counted(after, 'model')}`)
}

/** The field of a request with the named plugins; none for all. Throws `usage` unless either is chosen. */
function pluginsIn(ids: readonly string[], { all }: RefreshOptions): { readonly plugins?: string[] } {
  if (ids.length === 0 && !all) throw new AppError('usage', 'Name the plugins to refresh, or add --all')
  if (ids.length > 0 && all) throw new AppError('usage', 'Use either plugin names or --all, not both')
  return ids.length > 0 ? { plugins: [...ids] } : {}
}

/** Refreshes plugins with a progress bar; rows are in the order of the plugins that were named, else by their ids. */
async function refreshedRows(cli: Cli, input: z.input<typeof refreshModels.input>): Promise<readonly Row[]> {
  const progress = openProgress(cli)
  const rows: Row[] = []
  let total = 1
  try {
    for await (const piece of await cli.askStream(refreshModels, { ...input, stream: true })) {
      const { total: count, row } = piece as Partial<{ total: number; row: Row }>
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

function outcome({ error, skipped, added, removed, backup }: Row): string {
  if (error !== null) return 'failed'
  if (skipped !== null) return `skipped: ${skipped}`
  if (backup !== null) return 'refreshed'
  return added.length + removed.length > 0 ? 'would change' : 'unchanged'
}

/** Prints a line for each added or removed model. */
async function showChanges(cli: Cli, rows: readonly Row[]): Promise<void> {
  for (const { plugin, added, removed } of rows)
    for (const [mark, names] of [['+', added] as const, ['-', removed] as const])
      for (const name of names) await cli.io.out(`${mark} ${plugin} ${printableLine(name)}\n`)
}
