import { showModel } from '../../operations/operations.ts'
import { resolveAlias } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { labelled, sizeText } from '../terminal/table.ts'

/** Prints the facts of a model. */
export async function show(cli: Cli, model: string): Promise<void> {
  const { paths } = await cli.settings()
  await print(cli, await cli.ask(showModel, { model: resolveAlias(model, paths) }), (found) => {
    const { price, bytes, context_window: context, context_source: source, max_output: most } = found
    return labelled([
      ['Name', found.name],
      ['', found.display_name && `  ${found.display_name}`],
      ['Type', `${found.type}${found.default ? ', the default of its plugin' : ''}`],
      ['From', found.plugin ? `plugin ${found.plugin} (${found.state})` : runnerName(found.runner)],
      ['Host', found.host],
      ['Forwarded to', found.forwarded_to],
      ['Context', windowText(context, source)],
      ['Answer', most === undefined ? undefined : `at most ${most.toLocaleString('en')} tokens`],
      ['Capabilities', found.capabilities.join(', ').replaceAll('_', ' ')],
      ['Retired', found.retired],
      [
        'Price',
        price &&
          `$${price.input} in${price.output === undefined ? '' : `, $${price.output} out`}${price.cached === undefined ? '' : `, $${price.cached} cached`} per million tokens (${price.source})`,
      ],
      ['Size', bytes === undefined ? undefined : sizeText(bytes)],
      ['Parameters', found.parameter_size],
      ['Quantisation', found.quantization],
      ['Family', found.family],
      ['Format', found.format],
      ['Licence', found.licence],
    ])
  })
}

const sourceTexts = {
  plugin: 'as the plugin file says',
  list: "as the provider's list says",
  shipped: 'as the shipped table says',
  runner: 'as its runner says',
  refusal: 'as the provider said today when it refused a longer request',
} as const

function windowText(tokens: number | undefined, source: keyof typeof sourceTexts | undefined): string {
  if (tokens === undefined) return 'unknown: conversations are sent whole'
  return `${tokens.toLocaleString('en')} tokens${source ? `, ${sourceTexts[source]}` : ''}`
}

function runnerName(runner: string | null): string {
  return runner === 'ollama' ? 'Ollama' : 'this machine, pulled by aichat'
}
