import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import type { PluginManifest } from '../../plugins/plugins.ts'
import { rateText } from '../../usage/usage.ts'
import type { Cli } from '../terminal/cli.ts'
import { askTerminal } from '../terminal/prompts.ts'

/** The widest name in front of the facts: columns. */
const widestName = 40

/** The model of a provider that the user chooses, with window and price beside each; the only one without a question. */
export async function chooseModel(cli: Cli, app: App, manifest: PluginManifest): Promise<string> {
  const { model_map: names } = manifest
  const first = usualModel(manifest)
  if (names.length === 1) return first
  const prices = await app.prices()
  const width = Math.min(widestName, Math.max(...names.map(({ length }) => length)))
  const choices = [first, ...names.filter((name) => name !== first)].map((value) => {
    const { context_window: window } = app.facts.of(manifest, value)
    const { input, output } = prices.priceFor(manifest.id, value)?.rates ?? {}
    const price = input === undefined ? '' : `$${rateText(input)} in, $${rateText(output ?? 0)} out`
    const tokens = window === undefined ? '' : `${window.toLocaleString('en')} tokens`
    const line = `${value.padEnd(width)}  ${tokens.padEnd(17)} ${price}`.trimEnd()
    return { value, name: line.slice(0, Math.max(20, cli.io.columns - 4)), short: value }
  })
  return askTerminal<string>(cli, {
    type: 'search',
    message: 'Which model answers? Type to filter; prices are per million tokens:',
    pageSize: 12,
    source: (typed) => choices.filter(({ value }) => value.toLowerCase().includes(typed?.toLowerCase() ?? '')),
  })
}

/** The model of a provider that is asked where none is named. */
export function usualModel({ default_model: name, model_map: names }: PluginManifest): string {
  return name !== undefined && names.includes(name) ? name : names[0]!
}

/** The model of this name, with or without its provider before it. Throws `not_found`. */
export function namedModel({ id, name, model_map: names }: PluginManifest, asked: string): string {
  const model = names.find((each) => asked === each || asked === `${id}:${each}`)
  if (model !== undefined) return model
  throw new AppError('not_found', `${name} lists no model "${asked.slice(0, 100)}"${suggestion(asked, names)}`, {
    details: [`\`aichat models list ${id}\` shows the models`],
  })
}
