import { createPlaceTable } from '../../chat/chat.ts'
import { Histogram } from '../../metrics/metrics.ts'
import type { Amounts, Place } from '../cost.ts'

/** The tokens of a model since this process began. */
export interface TokenCount {
  /** The plugin, or `local`. */
  readonly provider: string
  /** The model, or `other` for those without a row of their own. */
  readonly model: string
  /**
   * Input and output include audio; input includes tokens read from and written to a cache, output includes reasoning.
   */
  readonly input: number
  readonly audioInput: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly audioOutput: number
  readonly reasoning: number
  /** The tokens of single attempts, by `tokenBounds`. */
  readonly inputs: Histogram
  readonly outputs: Histogram
}

/** Counts tokens for the metrics of a service. */
export type TokenCounts = ReturnType<typeof createTokenCounts>

/** The bounds that OpenTelemetry names for histograms of tokens: powers of 4. */
export const tokenBounds = Array.from({ length: 14 }, (_, at) => 4 ** at)

type Counting = { -readonly [K in Exclude<keyof TokenCount, 'provider' | 'model'>]: TokenCount[K] }

/** Counts by plugin and model; `isListed` as in `createPlaceTable`. */
export function createTokenCounts(isListed: (place: Place) => boolean) {
  const table = createPlaceTable<Counting>(
    () => ({
      ...{ input: 0, audioInput: 0, cached: 0, cacheWrite: 0, output: 0, audioOutput: 0, reasoning: 0 },
      inputs: new Histogram(tokenBounds),
      outputs: new Histogram(tokenBounds),
    }),
    isListed,
  )
  return {
    add(place: Place, amounts: Amounts) {
      const { input, output } = amounts
      if (input === 0 && output === 0) return
      const counting = table.of(place, true).value
      counting.input += input
      counting.output += output
      counting.audioInput += amounts.audioInput ?? 0
      counting.audioOutput += amounts.audioOutput ?? 0
      counting.cached += amounts.cached ?? 0
      counting.cacheWrite += (amounts.cacheWrite ?? 0) + (amounts.cacheWriteLong ?? 0)
      counting.reasoning += amounts.reasoning ?? 0
      counting.inputs.add(input)
      counting.outputs.add(output)
    },
    list: () => table.rows().map(({ plugin, model, value }) => ({ provider: plugin, model, ...value })),
  }
}
