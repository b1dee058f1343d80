import { createHash } from 'node:crypto'
import type { Failure } from './protocol/failure.ts'

/** The keys of one plugin, of which each request uses one. */
export interface KeyPool {
  /**
   * The key for a request, by the name of its variable: the same asker has the same key while it is healthy, since a
   * provider caches prompts by key (rendezvous hashing, Thaler and Ravishankar 1998). Undefined when all rest.
   */
  choose(asker: string, model: string): string | undefined
  /** Puts a key that failed to rest, for a while or until it is replaced. */
  failed(name: string, model: string, failure: Failure): void
  /** The failure of the key that rests for the shortest time, and how long (milliseconds); undefined while one is healthy. */
  rest(model: string): { readonly failure: Failure; readonly ms: number } | undefined
}

export interface KeyPoolsParts {
  /** Changes with the value of a key: a refused one is asked again when it is another. */
  readonly versionOf: (name: string) => unknown
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** Rests of a key in milliseconds where the provider names none: after too many requests, and without money. */
const rateRest = 15_000
const moneyRest = 60_000
const longestRest = 3_600_000

interface State {
  restsUntil: number
  failure: Failure | undefined
  /** The value that was refused. */
  refused: unknown
}

/** Keys and models that are remembered. */
const most = 2000

/** Whether a failure is of the key alone, so that another key may succeed at once. */
export function isOfKey({ class: kind, status }: Failure): boolean {
  return kind === 'auth' || kind === 'quota' || (kind === 'rate' && [undefined, 402, 429].includes(status))
}

/** Keeps refusals and rests of the plugins' keys in memory: those of 2,000 keys and models at the most. */
export function createKeyPools({ versionOf, now }: KeyPoolsParts) {
  const states = new Map<string, State>()
  /** A refused key is refused for every model. */
  const stateOf = (plugin: string, name: string, model: string): State => {
    const id = `${plugin}\n${name}\n${model}`
    const known = states.get(id)
    if (known) return known
    const fresh: State = { restsUntil: 0, failure: undefined, refused: undefined }
    if (states.size >= most) states.delete(states.keys().next().value!)
    states.set(id, fresh)
    return fresh
  }
  return {
    /** The pool of a plugin with several keys; undefined for one with a single key or none. */
    of(plugin: string, names: readonly string[]): KeyPool | undefined {
      if (names.length < 2) return undefined
      return {
        choose(asker, model) {
          const [first] = names
            .filter((name) => restOf(name, model) === 0)
            .map((name) => ({ name, weight: weightOf(asker, name) }))
            .sort((a, b) => b.weight - a.weight)
          return first?.name
        },
        failed(name, model, failure) {
          const isRefused = failure.class === 'auth'
          const state = stateOf(plugin, name, isRefused ? '' : model)
          state.failure = failure
          state.refused = isRefused ? versionOf(name) : undefined
          const least = failure.class === 'quota' ? moneyRest : 0
          const rest = Math.max(failure.waitMs ?? (failure.class === 'quota' ? moneyRest : rateRest), least)
          state.restsUntil = isRefused ? Number.POSITIVE_INFINITY : now() + Math.min(rest, longestRest)
        },
        rest(model) {
          const rests = names.map((name) => ({ name, ms: restOf(name, model) })).sort((a, b) => a.ms - b.ms)
          const [first] = rests
          if (!first || first.ms === 0) return undefined
          const failure =
            states.get(`${plugin}\n${first.name}\n${model}`)?.failure ?? stateOf(plugin, first.name, '').failure
          return failure && { failure, ms: first.ms }
        },
      }

      /** Milliseconds that a key rests still: 0 for a healthy one. */
      function restOf(name: string, model: string): number {
        const every = states.get(`${plugin}\n${name}\n`)
        if (every && every.restsUntil > now()) {
          if (versionOf(name) === every.refused) return every.restsUntil - now()
          every.restsUntil = 0
        }
        const one = states.get(`${plugin}\n${name}\n${model}`)
        return one ? Math.max(0, one.restsUntil - now()) : 0
      }
    },
  }
}

/** The place of a key in an asker's order. */
function weightOf(asker: string, name: string): number {
  return createHash('sha256').update(`${asker}\n${name}`).digest().readUInt32BE(0)
}
