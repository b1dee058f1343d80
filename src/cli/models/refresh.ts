import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/counted.ts'
import { type RefreshPiece, refreshModels, restoreModels } from '../../operations/models.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { table } from '../terminal/table.ts'

interface RefreshOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly strict?: boolean
}

type Row = z.output<typeof refreshModels.output>['plugins'][number]

/** Refreshes lists and prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function refresh(cli: Cli, ids: readonly string[], options: RefreshOptions): Promise<void> {
  if (ids.length === 0 && !options.all) throw new AppError('usage', 'Name the plugins to refresh, or add --all')
  if (ids.length > 0 && options.all) throw new AppError('usage', 'Use either plugin names or --all, not both')
  const rows = await fetchLists(cli, {
    ...(ids.length > 0 && { plugins: [...ids] }),
    dry_run: options.dryRun === true,
    force: options.force === true,
  })
  await print(cli, { plugins: rows }, () => tableOf(cli, rows))
  if (options.dryRun && !cli.globals().json) await showChanges(cli, rows)
  for (const row of rows) for (const line of remarks(row)) note(cli, line)
  if (rows.some((row) => row.error !== null || (options.strict && row.skipped !== null))) cli.exit = 1
}

/** Restores the list before the last change. */
export async function restore(cli: Cli, plugin: string): Promise<void> {
  const row = await cli.ask(restoreModels, { plugin })
  await print(cli, row, ({ before, after }) => `${plugin}: back from ${before} to ${counted(after, 'model')}`)
}

/** Fetches with a progress bar; rows are in the order of the plugins. */
async function fetchLists(cli: Cli, input: z.input<typeof refreshModels.input>): Promise<readonly Row[]> {
  const progress = openProgress(cli)
  const rows: Row[] = []
  let total = 1
  try {
    for await (const piece of await cli.askStream(refreshModels, { ...input, stream: true })) {
      const { total: count, row } = piece as RefreshPiece & { total?: number; row?: Row }
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

function tableOf(cli: Cli, rows: readonly Row[]): Promise<string> {
  return table(cli, rows, [
    ['PLUGIN', (row) => row.plugin],
    ['BEFORE', (row) => String(row.before)],
    ['AFTER', (row) => String(row.after)],
    ['ADDED', (row) => String(row.added.length)],
    ['REMOVED', (row) => String(row.removed.length)],
    ['', outcome],
  ])
}

function outcome(row: Row): string {
  if (row.error !== null) return 'failed'
  if (row.skipped !== null) return `skipped: ${row.skipped}`
  if (row.backup !== null) return 'refreshed'
  return row.added.length + row.removed.length > 0 ? 'would change' : 'unchanged'
}

/** Prints one line per added or removed model. */
async function showChanges(cli: Cli, rows: readonly Row[]): Promise<void> {
  for (const row of rows) {
    for (const name of row.added) await cli.io.out(`+ ${row.plugin} ${name}\n`)
    for (const name of row.removed) await cli.io.out(`- ${row.plugin} ${name}\n`)
  }
}

function remarks(row: Row): readonly string[] {
  const lines = row.warnings.map((warning) => `aichat: ${row.plugin}: ${warning}`)
  return row.error === null ? lines : [...lines, `aichat: ${row.plugin}: ${row.error}`]
}
