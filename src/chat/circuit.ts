import type { Failure } from './protocol/failure.ts'

/**
 * One breaker per plugin and model, closed → open → half-open with a single probe (M. Nygard, "Release It!", stability
 * patterns). It keeps a service that is down from costing every request its timeouts. A failure that does not heal by itself, a
 * bad key or a retired service, opens it as well, with the reason.
 */
export type Circuits = ReturnType<typeof createCircuits>

export interface Refusal {
  readonly failure: Failure
  /** Milliseconds until the target may be tried again; Infinity where it never may. */
  readonly retryAfterMs: number
}

export interface CircuitState {
  readonly state: 'open' | 'half-open' | 'closed'
  readonly reason?: string
  readonly until?: number
  readonly failures: number
}

interface Circuit {
  identity: unknown
  failures: number
  openUntil: number
  probing: boolean
  last?: Failure
}

/** Failures in a row that open a circuit, and its rests in milliseconds: doubled each time up to the longest. */
const threshold = 5
const firstRest = 15_000
const longestRest = 300_000

/** A key or a budget is mended by a person; one try a minute is enough to notice. */
const personRest = 60_000

const most = 2_000

/** Circuits of this process alone, for the latest 2,000 failing places. `now` is in milliseconds. */
export function createCircuits(now: () => number) {
  const circuits = new Map<string, Circuit>()
  return {
    /** Undefined when the target may be tried; it then owes a `succeeded` or `failed`. */
    refusal(name: string, identity: unknown): Refusal | undefined {
      const circuit = circuits.get(name)
      if (!circuit || circuit.openUntil === 0) return undefined
      if (circuit.identity !== identity) {
        circuits.delete(name)
        return undefined
      }
      const rest = circuit.openUntil - now()
      if (rest <= 0 && !circuit.probing) {
        circuit.probing = true
        return undefined
      }
      return circuit.last && { failure: circuit.last, retryAfterMs: Math.max(rest, 1000) }
    },
    succeeded(name: string) {
      circuits.delete(name)
    },
    failed(name: string, identity: unknown, failure: Failure) {
      const circuit = circuits.get(name) ?? { identity, failures: 0, openUntil: 0, probing: false }
      const wasProbe = circuit.probing
      circuit.identity = identity
      circuit.probing = false
      const rest = restAfter(failure, circuit.failures + 1, wasProbe)
      if (rest === undefined) {
        // The caller's own mistake is not the provider's failure, but a probe that met one has reached it.
        if (wasProbe && failure.class !== 'cancelled') circuits.delete(name)
        return
      }
      circuit.failures++
      circuit.last = failure
      circuit.openUntil = rest === 0 ? 0 : now() + rest
      circuits.delete(name)
      circuits.set(name, circuit)
      if (circuits.size > most) circuits.delete(circuits.keys().next().value!)
    },
    /** Closes the circuits whose name begins so. */
    close(prefix: string) {
      for (const name of circuits.keys()) if (name.startsWith(prefix)) circuits.delete(name)
    },
    states: () => new Map([...circuits].map(([name, circuit]) => [name, stateOf(circuit, now())])),
  }
}

/** Milliseconds of rest after a failure: 0 for none yet, undefined when the failure is not the provider's. */
function restAfter(failure: Failure, failures: number, wasProbe: boolean): number | undefined {
  switch (failure.class) {
    case 'retired':
      return Number.POSITIVE_INFINITY
    case 'auth':
    case 'quota':
      return Math.max(personRest, failure.waitMs ?? 0)
    case 'model_gone':
      return longestRest
    case 'rate':
      return failure.waitMs === undefined ? 0 : Math.min(failure.waitMs, longestRest)
    case 'down':
    case 'protocol':
      if (!wasProbe && failures < threshold) return 0
      return Math.min(firstRest * 2 ** Math.max(0, failures - threshold), longestRest)
    default:
      return undefined
  }
}

function stateOf(circuit: Circuit, now: number): CircuitState {
  const state = circuit.openUntil === 0 ? 'closed' : circuit.openUntil > now ? 'open' : 'half-open'
  return {
    state,
    failures: circuit.failures,
    ...(circuit.last && { reason: circuit.last.class }),
    ...(state === 'open' && Number.isFinite(circuit.openUntil) && { until: circuit.openUntil }),
  }
}
