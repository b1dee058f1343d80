import type { ChatCall, Message } from '../../chat/chat.ts'
import { isTold } from '../memory/kinds.ts'
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
    if (memorySettingsOf(persona).extract === 'off') return
    const stated = memories.filter(isTold)
    for (let from = 0; from < stated.length; from += mostTogether)
      add(persona, stated.slice(from, from + mostTogether), by)
  }

  function add(persona: Persona, memories: MemoryEntry[], by: OnBehalf): void {
    const id = lineOf(persona, by)
    const line = waiting.get(id)
    if (line && line.length + memories.length <= mostTogether) line.push(...memories)
    else begin(id, persona, memories, by)
  }

  function begin(id: string, persona: Persona, line: MemoryEntry[], by: OnBehalf): void {
    // Set before the work is queued: in an empty queue it begins at once, and removes its line.
    waiting.set(id, line)
    const isQueued = behind.run(persona, async (signal) => {
      if (waiting.get(id) === line) waiting.delete(id)
      const { text, model } = await ask(persona, extractionPrompt(line), by, signal)
      const facts = factsIn(text, line, redact).map((fact) => ({ ...fact, model }))
      if (!signal.aborted) await proposals.offer(persona, facts)
    })
    if (!isQueued) waiting.delete(id)
  }
}

/** By persona, API key, and whether the turns must stay on this machine. */
function lineOf({ id }: Persona, { key = '', localOnly = false }: OnBehalf): string {
  return `${id} ${key} ${localOnly}`
}
