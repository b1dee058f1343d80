import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { refreshPrices } from '../../operations/prices.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { pluginsIn, printRefresh, type RefreshOptions, refreshedRows } from '../terminal/refresh.ts'
import { readPriceFile } from './files.ts'

type Row = z.output<typeof refreshPrices.output>['plugins'][number]

/** Refreshes prices and prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function refresh(
  cli: Cli,
  ids: readonly string[],
  options: RefreshOptions & { readonly from?: string },
): Promise<void> {
  const { from, all } = options
  if (ids.length === 0 && !all && from === undefined)
    throw new AppError('usage', 'Name the plugins to refresh, or add --all or --from FILE')
  const input = { ...fieldsOf(cli, refreshPrices), ...(ids.length > 0 || all ? pluginsIn(ids, options) : {}) }
  const rows =
    from === undefined
      ? await refreshedRows<typeof refreshPrices.input, Row>(cli, refreshPrices, input)
      : await takePrices(cli, from, input)
  await printRefresh(cli, rows, options, ({ written }) => written)
}

type Input = z.input<typeof refreshPrices.input>

async function takePrices(cli: Cli, source: string, input: Input): Promise<readonly Row[]> {
  const { document, origin } = await readPriceFile(cli, source)
  // The operation validates it, here or on the server.
  const { plugins } = await cli.ask(refreshPrices, { ...input, document: document as never, origin })
  return plugins
}
