import type { Message } from '../../chat/protocol/messages.ts'
import type { MemoryEntry } from '../memory/memory.ts'
import type { Proposals } from '../memory/proposals.ts'
import { memorySettingsOf, type Persona } from '../persona.ts'
import type { Behind } from './behind.ts'
import { extractionPrompt, factsIn } from './facts.ts'
import type { Redact } from './keeping.ts'

/** Asks a persona's own model; resolves with its words and its name. */
export type AskModel = (
  persona: Persona,
  messages: readonly Message[],
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
 * Has personas' models propose facts from what turns left, if their settings say so. The returned function returns at once,
 * and nothing that goes wrong behind it reaches a chat.
 */
export function createExtraction({ ask, behind, proposals, redact }: ExtractionParts) {
  /** By persona. */
  const waiting = new Map<string, MemoryEntry[]>()

  return (persona: Persona, memories: readonly MemoryEntry[]): void => {
    if (memorySettingsOf(persona).extract === 'off' || memories.length === 0) return
    const line = waiting.get(persona.id)
    if (line && line.length + memories.length <= mostTogether) line.push(...memories)
    else begin(persona, memories.slice(0, mostTogether))
  }

  function begin(persona: Persona, line: MemoryEntry[]): void {
    const isQueued = behind.run(persona, async (signal) => {
      if (waiting.get(persona.id) === line) waiting.delete(persona.id)
      const { text, model } = await ask(persona, extractionPrompt(line), signal)
      const facts = factsIn(text, line, redact).map((fact) => ({ ...fact, model }))
      if (!signal.aborted) await proposals.offer(persona, facts)
    })
    if (isQueued) waiting.set(persona.id, line)
  }
}
