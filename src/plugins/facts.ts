/**
 * Facts of models: what each can hold, see and do. The first source that states a fact decides: `models` of the plugin
 * document, by the operator's hand; `listed` there, from the provider's list by `aichat models refresh`; the shipped table. A
 * window that a provider's refusal showed to be smaller stands before all of them until the end of the day. What nobody
 * states stays unknown and is left out.
 */
import type { PluginManifest } from './manifest.ts'
import { factsIn, type ModelFacts } from './model-facts.ts'
import { type ShippedFacts, shippedAt } from './shipped-facts.ts'

export { factsOfRow, factsOfShow } from './listed-facts.ts'
export { abilitiesOf, type ModelFacts, modelFacts } from './model-facts.ts'
export type { ShippedFacts } from './shipped-facts.ts'

/** Where a window comes from; `refusal` is the provider's word to a request that was too long. */
export const windowSources = ['plugin', 'list', 'shipped', 'runner', 'refusal'] as const

export type WindowSource = (typeof windowSources)[number]

type Place = Pick<PluginManifest, 'id' | 'endpoint'> & {
  readonly models?: PluginManifest['models'] | undefined
  readonly listed?: PluginManifest['listed'] | undefined
}

export interface FactBook {
  /** The known facts of a plugin's model. */
  of(plugin: Place, model: string): ModelFacts
  /** Where its window comes from; undefined where the window is unknown. */
  windowSource(plugin: Place, model: string): WindowSource | undefined
  /** Keeps that a model of a plugin, or of a local runner, takes no more than so many tokens: for this day (UTC). */
  learn(place: string, model: string, tokens: number): void
  /** The window that was learned today. */
  learned(place: string, model: string): number | undefined
}

/** The most models whose windows are kept at once. */
const mostLearned = 1_000

/** Opens the facts. `shipped` gives the shipped table; it is called once, at the first question. */
export function createFactBook({ shipped, clock }: { shipped: () => ShippedFacts; clock: () => number }): FactBook {
  let table: ShippedFacts | undefined
  const windows = new Map<string, { readonly tokens: number; readonly day: number }>()
  const today = () => Math.floor(clock() / 86_400_000)
  const sources = ({ models, listed, endpoint }: Place, model: string) => {
    table ??= shipped()
    return [factsIn(entryOf(models, model)), factsIn(entryOf(listed, model)), shippedAt(table, endpoint, model)]
  }
  const learned = (place: string, model: string) => {
    const found = windows.get(`${place}\n${model}`)
    return found?.day === today() ? found.tokens : undefined
  }
  return {
    of(plugin, model) {
      const [own, listed, known] = sources(plugin, model)
      const facts = { ...known, ...listed, ...own }
      const window = learned(plugin.id, model)
      return window === undefined
        ? facts
        : { ...facts, context_window: Math.min(window, facts.context_window ?? window) }
    },
    windowSource(plugin, model) {
      const stated = sources(plugin, model).map(({ context_window: window }) => window)
      const at = stated.findIndex((window) => window !== undefined)
      const window = learned(plugin.id, model)
      return window !== undefined && window <= (stated[at] ?? window) ? 'refusal' : windowSources[at]
    },
    learn(place, model, tokens) {
      if (windows.size >= mostLearned) windows.clear()
      windows.set(`${place}\n${model}`, { tokens, day: today() })
    },
    learned,
  }
}

function entryOf(facts: PluginManifest['models'], model: string): unknown {
  return facts && Object.hasOwn(facts, model) ? facts[model] : undefined
}
