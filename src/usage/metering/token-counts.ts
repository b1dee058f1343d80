import type { Amounts, Place } from '../usage.ts'

/** The tokens of a model since this process began. */
export interface TokenCount {
  /** The plugin, or `local`. */
  readonly provider: string
  /** The model, or `other` beyond the first 200. */
  readonly model: string
  /** Input and output hold audio; the input holds what a cache gave and took, the output reasoning. */
  readonly input: number
  readonly audioInput: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly audioOutput: number
  readonly reasoning: number
  /** Attempts by the first bound of `tokenBounds` that holds their tokens; the last element counts those beyond all. */
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
}

/** Counts tokens for the metrics of a service. */
export interface TokenCounts {
  add(place: Place, amounts: Amounts): void
  list(): readonly TokenCount[]
}

/** The bounds that OpenTelemetry names for histograms of tokens: powers of 4. */
export const tokenBounds = Array.from({ length: 14 }, (_, at) => 4 ** at)

/** A caller may name any model: so many stand apart. */
const mostModels = 200

type Counting = {
  -readonly [K in keyof TokenCount]: TokenCount[K] extends readonly number[] ? number[] : TokenCount[K]
}

export function createTokenCounts(): TokenCounts {
  const providers = new Map<string | null, Map<string, Counting>>()
  let models = 0
  const countingOf = (plugin: string | null, asked: string): Counting => {
    const known = providers.get(plugin) ?? new Map<string, Counting>()
    providers.set(plugin, known)
    const found = known.get(asked)
    if (found) return found
    const model = models < mostModels ? asked : 'other'
    const other = known.get(model)
    if (other) return other
    const zeros = () => [...tokenBounds.map(() => 0), 0]
    const sums = { input: 0, audioInput: 0, cached: 0, cacheWrite: 0, output: 0, audioOutput: 0, reasoning: 0 }
    const made = { provider: plugin ?? 'local', model, ...sums, inputs: zeros(), outputs: zeros() }
    known.set(model, made)
    models++
    return made
  }
  return {
    add({ plugin, model }, amounts) {
      const { input, output } = amounts
      if (input === 0 && output === 0) return
      const counting = countingOf(plugin, model)
      counting.input += input
      counting.output += output
      counting.audioInput += amounts.audioInput ?? 0
      counting.audioOutput += amounts.audioOutput ?? 0
      counting.cached += amounts.cached ?? 0
      counting.cacheWrite += (amounts.cacheWrite ?? 0) + (amounts.cacheWriteLong ?? 0)
      counting.reasoning += amounts.reasoning ?? 0
      counting.inputs[boundOf(input)]!++
      counting.outputs[boundOf(output)]!++
    },
    list: () => [...providers.values()].flatMap((known) => [...known.values()]),
  }
}

function boundOf(tokens: number): number {
  const found = tokenBounds.findIndex((bound) => tokens <= bound)
  return found < 0 ? tokenBounds.length : found
}
