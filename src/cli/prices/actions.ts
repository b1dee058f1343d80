import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { listPrices, setPrices, unsetPrice } from '../../operations/prices.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { table } from '../terminal/table.ts'
import { readPriceFile } from './files.ts'

export { refresh } from './refresh.ts'

type Price = z.output<typeof listPrices.output>['prices'][number]
type Row = z.input<typeof setPrices.input>['prices'][number]

interface ListOptions {
  readonly model?: string
  readonly plugin?: string
  readonly source?: 'operator' | 'refreshed' | 'shipped'
  readonly limit?: string
  readonly offset?: string
}

/** Lists prices; exit 78 where a budget could refuse a model for want of one. */
export async function list(cli: Cli, { limit, offset, ...filter }: ListOptions): Promise<void> {
  const found = await cli.ask(listPrices, { ...filter, ...given({ limit, offset }) })
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
  readonly output?: string
  readonly cached?: string
  readonly cacheWrite?: string
  readonly cacheWrite1h?: string
  readonly audioInput?: string
  readonly audioOutput?: string
  readonly reasoning?: string
  readonly validFrom?: string
  readonly from?: string
}

export async function set(cli: Cli, model: string | undefined, options: SetOptions): Promise<void> {
  // The fields of the one price are options; those of a file are not.
  if (options.from === undefined) cli.running?.fields(optionsOfRates)
  const prices = options.from === undefined ? [rowOf(model, options)] : await rowsOf(cli, model, options)
  const done = await cli.ask(setPrices, { prices })
  await print(cli, done, ({ prices: rows }) => tableOf(cli, rows))
}

const optionsOfRates = {
  'prices.0.plugin': '--plugin',
  'prices.0.model': 'MODEL',
  'prices.0.valid_from': '--valid-from',
  'prices.0.rates.input': '--input',
  'prices.0.rates.output': '--output',
  'prices.0.rates.cached': '--cached',
  'prices.0.rates.cache_write': '--cache-write',
  'prices.0.rates.cache_write_1h': '--cache-write-1h',
  'prices.0.rates.audio_input': '--audio-input',
  'prices.0.rates.audio_output': '--audio-output',
  'prices.0.rates.reasoning': '--reasoning',
}

export async function unset(
  cli: Cli,
  model: string,
  { plugin, validFrom }: { plugin: string; validFrom?: string },
): Promise<void> {
  const done = await cli.ask(unsetPrice, { model, plugin, ...given({ valid_from: validFrom }) })
  await print(cli, done, () => model)
}

function rowOf(model: string | undefined, { plugin, input, validFrom, from: _none, ...rest }: SetOptions): Row {
  if (model === undefined) throw new AppError('usage', 'Name the model, or a price file with --from')
  if (plugin === undefined) throw new AppError('usage', 'Name the plugin of the model with --plugin')
  if (input === undefined) throw new AppError('usage', 'Name the price of the input with --input')
  const { cacheWrite, cacheWrite1h, audioInput, audioOutput, ...same } = rest
  const renamed = {
    cache_write: cacheWrite,
    cache_write_1h: cacheWrite1h,
    audio_input: audioInput,
    audio_output: audioOutput,
  }
  return {
    plugin,
    model,
    rates: { input, ...given({ ...same, ...renamed }) },
    ...given({ valid_from: validFrom }),
  }
}

async function rowsOf(cli: Cli, model: string | undefined, { from, ...others }: SetOptions): Promise<Row[]> {
  if (model !== undefined || Object.keys(others).length > 0)
    throw new AppError('usage', 'Use either a model with its rates or --from, not both')
  const { document } = await readPriceFile(cli, from!)
  return (document as { readonly prices?: Row[] }).prices ?? []
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
