import type { z } from 'zod'
import { counted } from '../../formats/counted.ts'
import { refreshModels, restoreModels } from '../../operations/models.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { print } from '../terminal/output.ts'
import { pluginsIn, printRefresh, type RefreshOptions, refreshedRows } from '../terminal/refresh.ts'

type Row = z.output<typeof refreshModels.output>['plugins'][number]

/** Refreshes lists and prints the changes; exit 1 when one failed, and with --strict when one was skipped. */
export async function refresh(cli: Cli, ids: readonly string[], options: RefreshOptions): Promise<void> {
  const input = { ...fieldsOf(cli, refreshModels), ...pluginsIn(ids, options) }
  const rows = await refreshedRows<typeof refreshModels.input, Row>(cli, refreshModels, input)
  await printRefresh(cli, rows, options, ({ backup }) => backup !== null)
}

/** Restores the list before the last change. */
export async function restore(cli: Cli, plugin: string): Promise<void> {
  const row = await cli.ask(restoreModels, { plugin })
  await print(cli, row, ({ before, after }) => `${plugin}: back from ${before} to ${counted(after, 'model')}`)
}
