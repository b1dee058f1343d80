import { createHash } from 'node:crypto'
import type { Failure } from './protocol/failure.ts'
import type { HeaderBag } from './protocol/retry-after.ts'
import { quotasIn } from './quota-headers.ts'

/** The keys of one plugin, of which each request uses one. */
export interface KeyPool {
  /**
   * The key for a request, by the name of its variable: the same asker has the same key while it is healthy, since a
   * provider caches prompts by key (rendezvous hashing, Thaler and Ravishankar 1998). Undefined when all rest.
   */
  choose(asker: string, model: string, tokens: number): string | undefined
  /** Puts a key that failed to rest, for a while or until it is replaced. */
  failed(name: string, model: string, failure: Failure): void
  /** Reads the rest of the key's quotas from an answer. */
  answered(name: string, model: string, headers: HeaderBag): void
  /** The failure of the key that rests for the shortest time, and how long (milliseconds); undefined while one is healthy. */
  rest(model: string): { readonly failure: Failure; readonly ms: number } | undefined
}

export interface KeyPools {
  /** The pool of a plugin with several keys; undefined for one with a single key or none. */
  of(plugin: string, names: readonly string[]): KeyPool | undefined
}

export interface KeyPoolsParts {
  /** Changes with the value of a key: a refused one is asked again when it is another. */
  readonly versionOf: (name: string) => unknown
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Rests of a key in milliseconds where the provider names none: after too many requests, and without money. */
const rateRest = 15_000
const moneyRest = 60_000
const longestRest = 3_600_000

/** A key is left while less of a quota remains than this share of it, so that no request meets its end. */
const reserve = 0.05

interface State {
  restsUntil: number
  failure: Failure | undefined
  /** The value that was refused. */
  refused: unknown
  /** By kind: the rest, and the moment (monotonic) at which it is filled again. */
  quotas: readonly {
    readonly kind: 'requests' | 'tokens'
    remaining: number
    readonly limit: number | undefined
    readonly until: number
  }[]
}

/** Keys and models that are remembered. */
const most = 2000

/** Whether a failure is of the key alone, so that another key may succeed at once. */
export function isOfKey({ class: kind, status }: Failure): boolean {
  return kind === 'auth' || kind === 'quota' || (kind === 'rate' && [undefined, 402, 429].includes(status))
}

/** Keeps refusals, rests and quotas of the plugins' keys in memory: those of 2,000 keys and models at the most. */
export function createKeyPools({ versionOf, now, clock }: KeyPoolsParts): KeyPools {
  const states = new Map<string, State>()
  /** A refused key is refused for every model. */
  const stateOf = (plugin: string, name: string, model: string): State => {
    const id = `${plugin}\n${name}\n${model}`
    const known = states.get(id)
    if (known) return known
    const fresh: State = { restsUntil: 0, failure: undefined, refused: undefined, quotas: [] }
    if (states.size >= most) states.delete(states.keys().next().value!)
    states.set(id, fresh)
    return fresh
  }
  return {
    of(plugin, names) {
      if (names.length < 2) return undefined
      return {
        choose(asker, model, tokens) {
          const healthy = names
            .filter((name) => restOf(name, model) === 0)
            .map((name) => ({ name, weight: weightOf(asker, name) }))
            .sort((a, b) => b.weight - a.weight)
          // Where every quota is short, the asker's own key is asked all the same: quotas are estimates.
          return (healthy.find(({ name }) => hasQuota(stateOf(plugin, name, model), tokens)) ?? healthy[0])?.name
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
        answered(name, model, headers) {
          const quotas = quotasIn(headers, clock())
          if (quotas.length === 0) return
          stateOf(plugin, name, model).quotas = quotas.map(({ kind, remaining, limit, resetMs }) => ({
            kind,
            remaining,
            limit,
            until: now() + resetMs,
          }))
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

  function hasQuota({ quotas }: State, tokens: number): boolean {
    return quotas.every(({ kind, remaining, limit, until }) => {
      if (until <= now()) return true
      const needed = kind === 'requests' ? 1 : tokens
      return remaining >= Math.max(needed, (limit ?? 0) * reserve)
    })
  }
}

/** The place of a key in an asker's order. */
function weightOf(asker: string, name: string): number {
  return createHash('sha256').update(`${asker}\n${name}`).digest().readUInt32BE(0)
}
