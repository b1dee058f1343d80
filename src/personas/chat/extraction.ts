import type { Message } from '../../chat/protocol/messages.ts'
import type { ChatCall } from '../../chat/router.ts'
import type { MemoryEntry } from '../memory/memory.ts'
import type { Proposals } from '../memory/proposals.ts'
import { memorySettingsOf, type Persona } from '../persona.ts'
import type { Behind } from './behind.ts'
import { extractionPrompt, factsIn } from './facts.ts'
import type { Redact } from './keeping.ts'

/**
 * The payer of a request to a model: the API key that the chat came with, if any, which pays and sets bounds; and whether the
 * request must stay on this machine, as the chat did.
 */
export type OnBehalf = Pick<ChatCall, 'key' | 'permits' | 'localOnly'>

/** Asks a persona's own model; resolves with its words and its name. */
export type AskModel = (
  persona: Persona,
  messages: readonly Message[],
  by: OnBehalf,
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly model: string }>

export interface ExtractionParts {
  readonly ask: AskModel
  readonly behind: Behind
  readonly proposals: Pick<Proposals, 'offer'>
  readonly redact: Redact
}

/** Memories of one question to the model: those of turns that came while it was busy go together, which costs less. */
const mostTogether = 12

/**
 * Has personas' models propose facts from the memories of turns, if their settings say so. The returned function
 * returns at once, and no failure behind it reaches a chat.
 */
export function createExtraction({ ask, behind, proposals, redact }: ExtractionParts) {
  /** By `lineOf`. */
  const waiting = new Map<string, MemoryEntry[]>()

  return (persona: Persona, memories: readonly MemoryEntry[], by: OnBehalf): void => {
    if (memorySettingsOf(persona).extract === 'off' || memories.length === 0) return
    const line = waiting.get(lineOf(persona, by))
    if (line && line.length + memories.length <= mostTogether) line.push(...memories)
    else begin(persona, memories.slice(0, mostTogether), by)
  }

  function begin(persona: Persona, line: MemoryEntry[], by: OnBehalf): void {
    const id = lineOf(persona, by)
    const isQueued = behind.run(persona, async (signal) => {
      if (waiting.get(id) === line) waiting.delete(id)
      const { text, model } = await ask(persona, extractionPrompt(line), by, signal)
      const facts = factsIn(text, line, redact).map((fact) => ({ ...fact, model }))
      if (!signal.aborted) await proposals.offer(persona, facts)
    })
    if (isQueued) waiting.set(id, line)
  }
}

/** By persona, API key, and whether the turns must stay on this machine. */
function lineOf({ id }: Persona, { key = '', localOnly = false }: OnBehalf): string {
  return `${id} ${key} ${localOnly}`
}
