import type { Message } from '../../chat/protocol/messages.ts'
import type { ChatCall } from '../../chat/router.ts'
import { toAppError } from '../../errors.ts'
import type { MemoryEntry } from '../memory/memory.ts'
import type { Proposals } from '../memory/proposals.ts'
import { memorySettingsOf, type Persona } from '../persona.ts'
import { extractionPrompt, factsIn } from './facts.ts'
import type { Redact } from './keeping.ts'

/** In whose name a model is asked: with the API key that the chat came with, if any, which pays and sets bounds. */
export type OnBehalf = Pick<ChatCall, 'key' | 'permits'>

/** Asks a persona's own model; resolves with its words and its name. */
export type AskModel = (
  persona: Persona,
  messages: readonly Message[],
  by: OnBehalf,
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly model: string }>

/** Has personas' models propose facts, behind the answers. Nothing that goes wrong in it reaches a chat. */
export interface Extraction {
  /** Looks at what a turn left, if the persona's settings say so; returns at once. */
  remembered(persona: Persona, memories: readonly MemoryEntry[], by: OnBehalf): void
  /** Ends what is under way, for a service that stops; what was not looked at is not looked at later. */
  stop(): void
  /** Resolves once all is done, or after `patienceMs`: for a command that ends. */
  settle(): Promise<void>
}

export interface ExtractionParts {
  readonly ask: AskModel
  readonly proposals: Pick<Proposals, 'offer'>
  readonly redact: Redact
  /** Told once per persona and process: a model that fails at it fails at every turn. */
  readonly onFailure: (persona: Persona, reason: string) => void
}

/** Milliseconds for one answer of the model. */
const answerMs = 60_000
/** Milliseconds that a command waits for it at its end. */
const patienceMs = 20_000
/** Memories of one question to the model: those of turns that came while it was busy go together, which costs less. */
const mostTogether = 12
/** Memories that wait; what comes while so many do is not looked at. */
const mostWaiting = 200

interface Line {
  readonly persona: Persona
  readonly memories: MemoryEntry[]
  readonly by: OnBehalf
}

export function createExtraction({ ask, proposals, redact, onFailure }: ExtractionParts): Extraction {
  const stopping = new AbortController()
  const failed = new Set<string>()
  const waiting = new Map<string, Line>()
  let working: Promise<void> | undefined

  return {
    remembered(persona, memories, by) {
      if (memorySettingsOf(persona).extract === 'off' || memories.length === 0 || stopping.signal.aborted) return
      const id = `${persona.id} ${by.key ?? ''}`
      const line = waiting.get(id) ?? { persona, memories: [], by }
      const room = mostWaiting - [...waiting.values()].reduce((sum, each) => sum + each.memories.length, 0)
      if (room <= 0) return fail(persona, 'the model is too slow: turns were passed over')
      line.memories.push(...memories.slice(0, room))
      waiting.set(id, { ...line, persona })
      working ??= work().finally(() => {
        working = undefined
      })
    },
    stop: () => stopping.abort(),
    async settle() {
      const patience = setTimeout(() => stopping.abort(), patienceMs)
      await working
      clearTimeout(patience)
    },
  }

  async function work(): Promise<void> {
    for (let next = takeNext(); next && !stopping.signal.aborted; next = takeNext()) {
      const { persona, memories, by } = next
      try {
        const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(answerMs)])
        const { text, model } = await ask(persona, extractionPrompt(memories), by, signal)
        const facts = factsIn(text, memories, redact)
        if (!stopping.signal.aborted)
          await proposals.offer(
            persona,
            facts.map((fact) => ({ ...fact, model })),
          )
      } catch (reason) {
        if (!stopping.signal.aborted) fail(persona, toAppError(reason).message)
      }
    }
  }

  function takeNext() {
    const [first] = waiting
    if (!first) return undefined
    const [id, { persona, memories, by }] = first
    const taken = memories.splice(0, mostTogether)
    // Personas take turns.
    waiting.delete(id)
    if (memories.length > 0) waiting.set(id, { persona, memories, by })
    return { persona, memories: taken, by }
  }

  function fail(persona: Persona, reason: string): void {
    if (failed.has(persona.id)) return
    if (failed.size > 10_000) failed.clear()
    failed.add(persona.id)
    onFailure(persona, reason)
  }
}
