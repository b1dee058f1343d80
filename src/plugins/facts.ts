/**
 * Facts of models: what each can hold, see and do. The first source that states a fact decides: `models` of the plugin
 * document, by the operator's hand; `listed` there, from the provider's list by `aichat models refresh`; the shipped table. A
 * window that a provider's refusal showed to be smaller stands before all of them until the end of the day. What nobody
 * states stays unknown and is left out.
 */
import { z } from 'zod'
import type { PluginManifest } from './manifest.ts'
import { factsIn, type ModelFacts } from './model-facts.ts'
import { isPattern, longestName, patternOf } from './model-names.ts'

/** Where a window comes from; `refusal` is the provider's word to a request that was too long. */
export const windowSources = ['plugin', 'list', 'shipped', 'runner', 'refusal'] as const

export type WindowSource = (typeof windowSources)[number]

type Place = Pick<PluginManifest, 'id' | 'endpoint'> & {
  readonly models?: PluginManifest['models'] | undefined
  readonly listed?: PluginManifest['listed'] | undefined
}

export type FactBook = ReturnType<typeof createFactBook>

/** The most models whose facts, or whose windows, are kept at once. */
const mostKept = 1_000

const learnedText = z.object({ day: z.int(), windows: z.array(z.tuple([z.string(), z.int().min(1)])) })

/** Keeps the windows that were learned over restarts, as text; `read` gives undefined where there is none. */
export interface LearnedWindows {
  read(): string | undefined
  write(text: string): void
}

interface FactParts {
  /** Gives the shipped table, which is the same at all times. */
  readonly shipped: () => ShippedFacts
  readonly clock: () => number
  /** By default they are kept in this process alone. */
  readonly learned?: LearnedWindows
}

/** Opens the facts. */
export function createFactBook({ shipped, clock, learned: kept }: FactParts) {
  let windows: Map<string, number> | undefined
  let day = Number.NaN
  /** The windows that were learned today, here or before a restart. */
  const today = () => {
    const now = Math.floor(clock() / 86_400_000)
    if (windows === undefined || day !== now) windows = readLearned(kept?.read(), now)
    day = now
    return windows
  }
  const sources = (place: Place, model: string): readonly ModelFacts[] => [
    factsIn(entryOf(place.models, model)),
    factsIn(entryOf(place.listed, model)),
    shippedAt(shipped(), hostIn(place.endpoint), model),
  ]
  /** What the sources say of the models of a plugin, which is one object until it is changed. */
  const stated = new WeakMap<Place, Map<string, ModelFacts>>()
  const statedOf = (place: Place, model: string): ModelFacts => {
    const models = stated.get(place) ?? new Map<string, ModelFacts>()
    stated.set(place, models)
    const kept = models.get(model)
    if (kept) return kept
    const [own, listed, known] = sources(place, model)
    const facts = { ...known, ...listed, ...own }
    if (models.size >= mostKept) models.clear()
    models.set(model, facts)
    return facts
  }
  const learned = (place: string, model: string) => today().get(`${place}\n${model}`)
  return {
    of(plugin: Place, model: string): ModelFacts {
      const facts = statedOf(plugin, model)
      const window = learned(plugin.id, model)
      return window === undefined
        ? facts
        : { ...facts, context_window: Math.min(window, facts.context_window ?? window) }
    },
    /** Where its window comes from; undefined where the window is unknown. */
    windowSource(plugin: Place, model: string): WindowSource | undefined {
      const stated = sources(plugin, model).map(({ context_window: window }) => window)
      const at = stated.findIndex((window) => window !== undefined)
      const window = learned(plugin.id, model)
      return window !== undefined && window <= (stated[at] ?? window) ? 'refusal' : windowSources[at]
    },
    /** Keeps that a model of a plugin, or of a local runner, takes no more than so many tokens: for this day (UTC). */
    learn(place: string, model: string, tokens: number) {
      const own = today()
      if (own.size >= mostKept) own.clear()
      own.set(`${place}\n${model}`, tokens)
      // What another process has learned meanwhile stays.
      windows = new Map([...readLearned(kept?.read(), day), ...own])
      kept?.write(JSON.stringify({ day, windows: [...windows] }))
    },
    learned,
  }
}

/** The windows in a kept text; none where it is of another day or damaged. */
function readLearned(text: string | undefined, day: number): Map<string, number> {
  try {
    const kept = learnedText.safeParse(JSON.parse(text ?? ''))
    return new Map(kept.success && kept.data.day === day ? kept.data.windows : [])
  } catch {
    return new Map()
  }
}

function entryOf(facts: PluginManifest['models'], model: string): unknown {
  return facts && Object.hasOwn(facts, model) ? facts[model] : undefined
}

/** The shipped table, which test/plugins/ship-facts.ts writes from the providers' lists and from a package of prices. */
export interface ShippedFacts {
  readonly format: 'aichat-models/1'
  /** Where the facts of each host are from, and of which day. */
  readonly sources: Readonly<Record<string, string>>
  /** By the host of the endpoint, and the name of the model there in small letters, or a pattern of names. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>>
}

/** The host of an endpoint, as the shipped table names it; empty where it has none. */
export function hostIn(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).host : ''
}

/** Finds the shipped facts of a model at a host: by its name, else by the pattern with the most letters that match. */
export function shippedAt({ hosts }: ShippedFacts, host: string, model: string): ModelFacts {
  const models = Object.hasOwn(hosts, host) ? hosts[host]! : {}
  const name = model.toLowerCase().slice(0, longestName)
  if (Object.hasOwn(models, name)) return factsIn(models[name])
  const matching = Object.keys(models)
    .filter(isPattern)
    .map((pattern) => ({ pattern, ...patternOf(pattern) }))
    .filter(({ matches }) => matches(name))
    .sort((one, other) => other.weight - one.weight)
  return matching[0] ? factsIn(models[matching[0].pattern]) : {}
}
