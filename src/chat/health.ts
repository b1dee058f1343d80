import type { Attempt } from './attempts.ts'
import type { CircuitState, Circuits } from './circuit.ts'

/** How a plugin last did, as far as this process has seen. */
export interface PluginHealth {
  readonly last_error: string | null
  /** Milliseconds since 1970 UTC. */
  readonly last_used_at: number | null
  /** The worst state among the plugin's models. */
  readonly circuit: 'closed' | 'open' | 'half-open'
}

/** How often a target did one thing since this process began. */
export interface AttemptCount {
  /** A plugin's id, or `local:` and the runner. */
  readonly target: string
  readonly outcome: Attempt['outcome']
  /** The failure's class; empty for an answer. */
  readonly failureClass: string
  readonly count: number
}

export interface TargetCircuit {
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  readonly state: CircuitState['state']
}

export type Health = ReturnType<typeof createHealth>

/** Remembers per plugin the last use and the last error; a success clears the error. */
export function createHealth(circuits: Circuits, clock: () => number) {
  const counts = new Map<string, AttemptCount>()
  const seen = new Map<string, { last_error: string | null; last_used_at: number }>()
  return {
    of(plugin: string): PluginHealth {
      const states = [...circuits.states()]
        .filter(([name]) => name.startsWith(`${plugin}|`))
        .map(([, { state }]) => state)
      const circuit = states.includes('open') ? 'open' : states.includes('half-open') ? 'half-open' : 'closed'
      const { last_error = null, last_used_at = null } = seen.get(plugin) ?? {}
      return { last_error, last_used_at, circuit }
    },
    /** Forgets the failures of a plugin in this process: someone has mended it, such as by another key. */
    mended(plugin: string) {
      circuits.close(`${plugin}|`)
      seen.delete(plugin)
    },
    /** The circuits of targets that have failed, and not answered since. */
    circuits: (): readonly TargetCircuit[] =>
      [...circuits.states()].map(([name, { state }]) => {
        const [target, model] = splitAt(name, '|')
        const isLocal = target.startsWith('local:')
        return { plugin: isLocal ? null : target, runner: isLocal ? target.slice('local:'.length) : null, model, state }
      }),
    counts: () => [...counts.values()],
    observe({ plugin, runner, tries, error, outcome, class: kind }: Attempt) {
      const failureClass = kind ?? ''
      const target = plugin ?? `local:${runner}`
      const name = `${target} ${outcome} ${failureClass}`
      counts.set(name, { target, outcome, failureClass, count: (counts.get(name)?.count ?? 0) + 1 })
      if (plugin === null) return
      seen.set(plugin, {
        last_error: error ?? null,
        last_used_at: tries > 0 ? clock() : (seen.get(plugin)?.last_used_at ?? clock()),
      })
    },
  }
}

/** The parts before and after the first separator. */
function splitAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}
