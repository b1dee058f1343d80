import { listEmbeddingModels, listModels } from '../../operations/operations.ts'
import { abilitiesOf, type ModelFacts } from '../../plugins/plugins.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { type Column, listing, sizeText, table } from '../terminal/table.ts'

export { alias } from './alias.ts'
export { show } from './details.ts'
export { pull, remove } from './pull.ts'
export { refresh, restore } from './refresh.ts'

export async function list(
  cli: Cli,
  plugin: string | undefined,
  options: { installed?: boolean; wide?: boolean },
): Promise<void> {
  const found = await cli.ask(listModels, { ...fieldsOf(cli, listModels), ...given({ plugin }) })
  const none = options.installed ? 'no models on this machine; pull one: aichat models pull NAME' : 'no models listed'
  await print(cli, found, ({ models }) =>
    listing(cli, models, none, [
      ['MODEL', (row) => row.name],
      ['PLUGIN', (row) => row.plugin ?? (row.runner === 'embedded' ? 'this machine' : (row.runner ?? ''))],
      ['TYPE', (row) => row.type],
      ...(options.installed ? [size] : []),
      ...(options.wide ? facts : []),
      ['', (row) => (row.default ? 'default' : '')],
    ]),
  )
}

const facts: readonly Column<ModelFacts>[] = [
  ['CONTEXT', ({ context_window: window }) => window?.toLocaleString('en') ?? ''],
  ['ANSWER', ({ max_output: most }) => most?.toLocaleString('en') ?? ''],
  ['TAKES AND DOES', (row) => (abilitiesOf(row) ?? []).join(' ').replaceAll('_', ' ')],
]

const size: Column<{ readonly bytes?: number }> = ['SIZE', ({ bytes }) => (bytes === undefined ? '' : sizeText(bytes))]

export async function embeddings(cli: Cli): Promise<void> {
  const found = await cli.ask(listEmbeddingModels, {})
  await print(cli, found, ({ models }) =>
    table(cli, models, [
      ['MODEL', (row) => row.name],
      ['BY', (row) => row.provider],
      ['DIMENSION', (row) => String(row.dimension ?? '')],
      ['', (row) => row.note ?? ''],
    ]),
  )
  for (const line of found.instructions ?? []) note(cli, line)
}
