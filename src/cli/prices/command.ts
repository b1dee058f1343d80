import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat prices …`: the prices of models. */
export function addPriceCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const prices = program
    .command('prices')
    .description('list and set the prices of models')
    .example('aichat prices list --model "gpt-4.1*"', 'aichat prices set --from prices.json')

  prices
    .command('list')
    .description('list prices in USD per million tokens; exit 78 when there is none')
    .field('--model <name>', 'only models of this name, or pattern such as "gpt-4.1*"')
    .field('--plugin <id>', 'only those of this plugin')
    .fieldOption(
      new Option('--source <source>', 'only those of this source').choices(['operator', 'refreshed', 'shipped']),
    )
    .field('-n, --limit <count>', 'list at most this many, up to 1000')
    .field('--offset <count>', 'skip this many')
    .example('aichat prices list --plugin anthropic', 'aichat prices list --model "gpt-4.1*" --json')
    .action(run((price) => price.list))

  prices
    .command('set [model]')
    .description("set the operator's own price, in USD per million tokens, which goes before all others")
    .field('--plugin <id>', 'the plugin that offers the model', 'prices.0.plugin')
    .field('--input <usd>', 'a million input tokens', 'prices.0.rates.input')
    .field('--output <usd>', 'a million output tokens', 'prices.0.rates.output')
    .field('--cached <usd>', 'input tokens read from a cache', 'prices.0.rates.cached')
    .field('--cache-write <usd>', 'input tokens written to a cache', 'prices.0.rates.cache_write')
    .field('--cache-write-1h <usd>', 'input tokens written to a cache for an hour', 'prices.0.rates.cache_write_1h')
    .field('--audio-input <usd>', 'input tokens of audio', 'prices.0.rates.audio_input')
    .field('--audio-output <usd>', 'output tokens of audio', 'prices.0.rates.audio_output')
    .field('--reasoning <usd>', 'output tokens of reasoning', 'prices.0.rates.reasoning')
    .field('--valid-from <day>', 'the first day of the price in UTC, such as 2026-01-31', 'prices.0.valid_from')
    .fields({ 'prices.0.model': 'MODEL' })
    .option('--from <file>', 'set all prices of a price file instead, with tiers and services, or of stdin with -')
    .example(
      'aichat prices set gpt-4.1 --plugin openai --input 1.5 --output 6 --cached 0.375',
      'aichat prices set "*" --plugin my-llm --input 0 --output 0',
      'aichat prices set --from prices.json',
    )
    .action(run((price) => price.set))

  prices
    .command('unset <model>')
    .description("take back the operator's own price")
    .requiredField('--plugin <id>', 'the plugin that offers the model')
    .field('--valid-from <day>', 'the price that begins on this day')
    .example('aichat prices unset gpt-4.1 --plugin openai')
    .action(run((price) => price.unset))
}
