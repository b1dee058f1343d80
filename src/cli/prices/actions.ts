import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { listPrices, longestPriceFile, setPrices, unsetPrice } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { readObject } from '../terminal/fetched.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

type Price = z.output<typeof listPrices.output>['prices'][number]
type Row = z.input<typeof setPrices.input>['prices'][number]

/** Lists prices; exit 78 where a budget could refuse a model for want of one. */
export async function list(cli: Cli): Promise<void> {
  const found = await cli.ask(listPrices, fieldsOf(cli, listPrices))
  await print(cli, found, ({ prices }) => tableOf(cli, prices))
  if (found.total === 0) {
    note(cli, 'aichat: no price is known; set one: aichat prices set MODEL --plugin ID --input USD --output USD')
    cli.exit = 78
  } else if (found.total > found.prices.length)
    note(cli, `aichat: ${found.prices.length} of ${found.total} prices; the others: --limit, --offset, --model`)
}

interface SetOptions {
  readonly plugin?: string
  readonly input?: string
  readonly from?: string
}

export async function set(cli: Cli, model: string | undefined, options: SetOptions): Promise<void> {
  const prices = options.from === undefined ? [rowOf(cli, model, options)] : await rowsOf(cli, model, options)
  const done = await cli.ask(setPrices, { prices })
  await print(cli, done, ({ prices: rows }) => tableOf(cli, rows))
}

export async function unset(cli: Cli, model: string): Promise<void> {
  const done = await cli.ask(unsetPrice, { ...fieldsOf(cli, unsetPrice), model })
  await print(cli, done, () => model)
}

/** The one price that options state. Throws `usage`. */
function rowOf(cli: Cli, model: string | undefined, { plugin, input }: SetOptions): Row {
  if (model === undefined) throw new AppError('usage', 'Name the model, or a price file with --from')
  if (plugin === undefined) throw new AppError('usage', 'Name the plugin of the model with --plugin')
  if (input === undefined) throw new AppError('usage', 'Name the price of the input with --input')
  return { ...fieldsOf(cli, setPrices).prices[0]!, model }
}

async function rowsOf(cli: Cli, model: string | undefined, { from, ...others }: SetOptions): Promise<Row[]> {
  if (model !== undefined || Object.keys(others).length > 0)
    throw new AppError('usage', 'Use either a model with its rates or --from, not both')
  const document: { readonly prices?: Row[] } = await readObject(cli, from!, longestPriceFile, 'price file')
  return document.prices ?? []
}

function tableOf(cli: Cli, prices: readonly Price[]): Promise<string> {
  return table(cli, prices, [
    ['PLUGIN', (row) => row.plugin],
    ['MODEL', (row) => row.model],
    ['INPUT', (row) => row.rates.input],
    ['CACHED', (row) => row.rates.cached ?? ''],
    ['WRITTEN', (row) => row.rates.cache_write ?? ''],
    ['OUTPUT', (row) => row.rates.output ?? ''],
    ['SOURCE', (row) => row.source],
    ['AS OF', (row) => row.fetched_at.slice(0, 10)],
    ['', remarksOn],
  ])
}

function remarksOn({ long, services, valid_from: from, also }: Price): string {
  return [
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(long ? [`beyond ${long.above} tokens ${long.rates.input} and ${long.rates.output ?? '-'}`] : []),
    ...(services ? [`also ${Object.keys(services).join(', ')}`] : []),
    ...(also ? [`and ${also.length} more ${also.length === 1 ? 'name' : 'names'}`] : []),
  ].join('; ')
}
