import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/counted.ts'
import { printableLine } from '../../formats/terminal-text.ts'
import { refreshModels, restoreModels } from '../../operations/models.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { refreshedRows } from '../terminal/refreshed-rows.ts'
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
  const rows = await refreshedRows<typeof refreshModels.input, Row>(cli, refreshModels, {
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
    for (const name of row.added) await cli.io.out(`+ ${row.plugin} ${printableLine(name)}\n`)
    for (const name of row.removed) await cli.io.out(`- ${row.plugin} ${printableLine(name)}\n`)
  }
}

function remarks(row: Row): readonly string[] {
  const lines = row.warnings.map((warning) => `aichat: ${row.plugin}: ${warning}`)
  return row.error === null ? lines : [...lines, `aichat: ${row.plugin}: ${row.error}`]
}
