import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { printableLine } from '../../formats/terminal-text.ts'
import { refreshPrices } from '../../operations/prices.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { refreshedRows } from '../terminal/refreshed-rows.ts'
import { table } from '../terminal/table.ts'
import { readPriceFile } from './files.ts'

interface RefreshOptions {
  readonly all?: boolean
  readonly from?: string
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly strict?: boolean
}

type Row = z.output<typeof refreshPrices.output>['plugins'][number]

/** Refreshes prices and prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function refresh(cli: Cli, ids: readonly string[], options: RefreshOptions): Promise<void> {
  if (ids.length === 0 && !options.all && options.from === undefined)
    throw new AppError('usage', 'Name the plugins to refresh, or add --all or --from FILE')
  if (ids.length > 0 && options.all) throw new AppError('usage', 'Use either plugin names or --all, not both')
  const input = {
    ...(ids.length > 0 && { plugins: [...ids] }),
    dry_run: options.dryRun === true,
    force: options.force === true,
  }
  const rows =
    options.from === undefined
      ? await refreshedRows<typeof refreshPrices.input, Row>(cli, refreshPrices, input)
      : await takePrices(cli, options.from, input)
  await print(cli, { plugins: rows }, () => tableOf(cli, rows))
  if (options.dryRun && !cli.globals().json) await showChanges(cli, rows)
  for (const row of rows) for (const line of remarks(row)) note(cli, line)
  if (rows.some((row) => row.error !== null || (options.strict && row.skipped !== null))) cli.exit = 1
}

type Input = z.input<typeof refreshPrices.input>

async function takePrices(cli: Cli, source: string, input: Input): Promise<readonly Row[]> {
  const { document, origin } = await readPriceFile(cli, source)
  // The operation validates it, here or on the server.
  const { plugins } = await cli.ask(refreshPrices, { ...input, document: document as never, origin })
  return plugins
}

function tableOf(cli: Cli, rows: readonly Row[]): Promise<string> {
  return table(cli, rows, [
    ['PLUGIN', (row) => row.plugin],
    ['BEFORE', (row) => String(row.before)],
    ['AFTER', (row) => String(row.after)],
    ['ADDED', (row) => String(row.added.length)],
    ['CHANGED', (row) => String(row.changed.length)],
    ['REMOVED', (row) => String(row.removed.length)],
    ['', outcome],
  ])
}

function outcome(row: Row): string {
  if (row.error !== null) return 'failed'
  if (row.skipped !== null) return `skipped: ${row.skipped}`
  if (row.written) return 'refreshed'
  return row.added.length + row.changed.length + row.removed.length > 0 ? 'would change' : 'unchanged'
}

/** Prints one line per added, changed or removed model. */
async function showChanges(cli: Cli, rows: readonly Row[]): Promise<void> {
  for (const { plugin, added, changed, removed } of rows) {
    for (const name of added) await cli.io.out(`+ ${plugin} ${printableLine(name)}\n`)
    for (const name of changed) await cli.io.out(`~ ${plugin} ${printableLine(name)}\n`)
    for (const name of removed) await cli.io.out(`- ${plugin} ${printableLine(name)}\n`)
  }
}

function remarks(row: Row): readonly string[] {
  const lines = row.warnings.map((warning) => `aichat: ${row.plugin}: ${warning}`)
  return row.error === null ? lines : [...lines, `aichat: ${row.plugin}: ${row.error}`]
}
