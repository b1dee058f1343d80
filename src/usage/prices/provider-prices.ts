import { type ModelRow, nameOf } from '../../plugins/catalog.ts'
import { isModelName, type ModelsSource } from '../../plugins/manifest.ts'
import type { Price, Rates } from './price.ts'
import { ratePerToken } from './rate-text.ts'

/** The prices in a provider's list of models. */
export interface ProviderPrices {
  readonly prices: readonly Price[]
  /** The rows with a price that no rates can say: a variable one, a fee for each request, or no number. */
  readonly leftOut: number
}

/**
 * The fields of `pricing` in OpenRouter's list, USD per token as texts
 * (https://openrouter.ai/docs/api-reference/list-available-models); others write theirs alike. `-1` is a variable price. Of
 * a part that costs nothing extra the list says 0, so that a part without more is none.
 */
const parts: Readonly<Record<string, keyof Rates>> = {
  input_cache_read: 'cached',
  input_cache_write: 'cacheWrite',
  internal_reasoning: 'reasoning',
  audio: 'audioInput',
}

/**
 * Takes the prices from a provider's list of models; models without a price are passed over, those with a price of
 * another form counted in `leftOut`.
 */
export function pricesOf(plugin: string, rows: readonly ModelRow[], source: ModelsSource): ProviderPrices {
  const prices = new Map<string, Price>()
  let leftOut = 0
  for (const row of rows) {
    const model = nameOf(row, source)
    const pricing = row['pricing']
    if (model === undefined || !isModelName(model) || typeof pricing !== 'object' || pricing === null) continue
    const found = ratesOf(pricing as Readonly<Record<string, unknown>>)
    if (found) prices.set(model.toLowerCase(), { plugin, model, ...found })
    else leftOut++
  }
  return { prices: [...prices.values()], leftOut }
}

function ratesOf(pricing: Readonly<Record<string, unknown>>): Pick<Price, 'rates' | 'rounded'> | undefined {
  const [input, output] = [textRate(pricing['prompt']), textRate(pricing['completion'])]
  if (!input || !output) return undefined
  if (pricing['request'] !== undefined && textRate(pricing['request'])?.rate !== 0) return undefined
  const rates: { -readonly [Field in keyof Rates]: Rates[Field] } = { input: input.rate, output: output.rate }
  let isExact = input.isExact && output.isExact
  for (const [field, name] of Object.entries(parts)) {
    const part = textRate(pricing[field])
    if (!part || part.rate === 0) continue
    rates[name] = part.rate
    isExact &&= part.isExact
  }
  return { rates, ...(!isExact && { rounded: true as const }) }
}

/** A number may be USD per token or per million; the known lists with texts mean tokens. */
function textRate(value: unknown): ReturnType<typeof ratePerToken> {
  return typeof value === 'string' ? ratePerToken(value) : undefined
}
