import { toAppError } from '../../errors.ts'
import type { Persona } from '../persona.ts'

/** Work of models behind the answers: one piece at a time, since a model at home has one set of weights to work with. */
export type Behind = ReturnType<typeof createBehind>

/** Milliseconds for one piece of work. */
const workMs = 60_000
/** Milliseconds that a command waits for it at its end. */
const patienceMs = 20_000
/** Pieces of work that wait. */
const mostWaiting = 100

/** @param onFailure called once per persona and process: a model that fails at it fails at every turn */
export function createBehind(onFailure: (persona: Persona, reason: string) => void) {
  const stopping = new AbortController()
  const failed = new Set<string>()
  const waiting: { readonly persona: Persona; readonly work: (signal: AbortSignal) => Promise<void> }[] = []
  let working: Promise<void> | undefined

  return {
    /** Queues work for a persona and returns at once; false where too much waits already or the process stops. */
    run(persona: Persona, work: (signal: AbortSignal) => Promise<void>): boolean {
      if (stopping.signal.aborted) return false
      if (waiting.length >= mostWaiting) {
        fail(persona, 'the model is too slow: turns were passed over')
        return false
      }
      waiting.push({ persona, work })
      working ??= workThrough().finally(() => {
        working = undefined
      })
      return true
    },
    /** Ends the work under way, for a service that stops; waiting work is dropped. */
    stop: () => stopping.abort(),
    /** Resolves once all is done, or `patienceMs` later: for a command that ends. */
    async settle() {
      const patience = setTimeout(() => stopping.abort(), patienceMs)
      await working
      clearTimeout(patience)
    },
  }

  async function workThrough(): Promise<void> {
    for (let next = waiting.shift(); next && !stopping.signal.aborted; next = waiting.shift()) {
      const { persona, work } = next
      try {
        await work(AbortSignal.any([stopping.signal, AbortSignal.timeout(workMs)]))
      } catch (reason) {
        if (!stopping.signal.aborted) fail(persona, toAppError(reason).message)
      }
    }
  }

  function fail(persona: Persona, reason: string): void {
    if (failed.has(persona.id)) return
    if (failed.size > 10_000) failed.clear()
    failed.add(persona.id)
    onFailure(persona, reason)
  }
}
