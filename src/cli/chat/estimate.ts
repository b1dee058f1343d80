import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { countTokens, previewChat, showModel } from '../../operations/operations.ts'
import { nanoOfUsd, usdOf } from '../../usage/usage.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import type { ChatQuestion } from './question.ts'

/** Estimates what a question would use at the place that would be asked first. Amounts are texts in USD, left out where not known. */
async function estimate(cli: Cli, question: ChatQuestion) {
  const { input_tokens } = await cli.ask(countTokens, question)
  const { plugin, model } = await cli.ask(previewChat, question)
  const named = plugin === null ? `local:${model}` : `${plugin}:${model}`
  const facts = await cli.ask(showModel, { model: named }).catch(() => undefined)
  const { max_tokens } = question as { readonly max_tokens?: number }
  const room = facts?.context_window === undefined ? undefined : Math.max(1, facts.context_window - input_tokens)
  const most = max_tokens ?? facts?.max_output ?? room
  const price = plugin === null ? { input: '0', output: '0' } : facts?.price
  const input = price && nanoOf(price.input, input_tokens)
  const output = price?.output === undefined || most === undefined ? undefined : nanoOf(price.output, most)
  return {
    plugin,
    model,
    /** Tokens of the request, by estimate. */
    input_tokens,
    ...(input !== undefined && { input_cost_usd: usdOf(input) }),
    /** The longest answer, in tokens. */
    ...(most !== undefined && { most_output_tokens: most }),
    /** The most that request and answer can cost together. */
    ...(input !== undefined && output !== undefined && { most_cost_usd: usdOf(input + output) }),
  }
}

/** Nano-USD of tokens at a rate in USD per million. */
function nanoOf(rate: string, tokens: number): number {
  return Math.ceil(Number(rate) * tokens * 1_000)
}

/** Prints the tokens and the price of a question, and sends nothing. */
export async function printCount(cli: Cli, question: ChatQuestion): Promise<void> {
  await print(cli, await estimate(cli, question), (found) => {
    const {
      plugin,
      model,
      input_tokens,
      input_cost_usd: input,
      most_output_tokens: longest,
      most_cost_usd: most,
    } = found
    const place = plugin === null ? `${model} on this machine` : `${plugin}:${model}`
    const price = input === undefined ? 'its price is not known (aichat prices set)' : `$${input}`
    const rest =
      most === undefined ? '' : `, at most $${most} with an answer of ${longest?.toLocaleString('en')} tokens`
    return `about ${input_tokens.toLocaleString('en')} ${counted(input_tokens, 'token').split(' ').at(-1)} to ${place}: ${price}${rest}`
  })
}

/** Throws `found` where a question can cost more than this in USD, `configuration` where that is unknown; `usage`. */
export async function requireAffordable(cli: Cli, question: ChatQuestion, most: string): Promise<void> {
  const bound = nanoOfUsd(most)
  if (bound === undefined)
    throw new AppError('usage', `Invalid --max-cost "${most.slice(0, 40)}": use USD such as 0.05`)
  const { plugin, model, most_output_tokens: longest, most_cost_usd: cost } = await estimate(cli, question)
  const place = plugin === null ? model : `${plugin}:${model}`
  if (cost === undefined)
    throw new AppError('configuration', `Not sent: the most that ${place} can cost is not known`, {
      details: [
        longest === undefined
          ? 'Bound its answer: --max-tokens COUNT'
          : `Set its price: aichat prices set ${model} --plugin ${plugin}`,
      ],
    })
  if (nanoOfUsd(cost)! > bound)
    throw new AppError('found', `Not sent: it can cost up to $${cost}, and --max-cost is $${most}`, {
      details: [`That is with an answer of ${longest?.toLocaleString('en')} tokens: --max-tokens bounds it`],
    })
}
