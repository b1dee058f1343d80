import type { ChatCall, Message } from '../../chat/chat.ts'
import { isEnded } from '../memory/closing.ts'
import { isTold } from '../memory/kinds.ts'
import type { Memories } from '../memory/memories.ts'
import { conversationOf, isPinned, type MemoryEntry, speakerOf } from '../memory/memory.ts'
import { memorySettingsOf, type Persona } from '../persona.ts'
import type { Profiles } from '../profile/profiles.ts'
import type { Behind } from './behind.ts'
import { endingsIn, extractionPrompt, type FoundFact, factsIn } from './facts.ts'
import type { Redact } from './keeping.ts'

/** The payer of a request to a model: the chat's API key, if any; and whether it must stay on this machine. */
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
  readonly memories: Pick<Memories, 'add' | 'search' | 'list' | 'end'>
  readonly profiles: Pick<Profiles, 'found'>
  readonly redact: Redact
}

/** Memories of one question to the model: those of turns that came while it was busy go together, which costs less. */
const mostTogether = 12

/** Earlier memories that the model is shown with them: those nearest to each, and the newest. */
const nearest = 4
const mostEarlier = 30

/**
 * Has personas' models find facts in the memories of turns, if their settings say so: those of which the model is sure become
 * memories beside their sources, and lines of the profile; and earlier memories that the turns end keep the time of it. The returned function returns at once, and no failure behind it reaches
 * a chat.
 */
export function createExtraction({ ask, behind, memories, profiles, redact }: ExtractionParts) {
  /** By `lineOf`. */
  const waiting = new Map<string, MemoryEntry[]>()

  return (persona: Persona, remembered: readonly MemoryEntry[], by: OnBehalf): void => {
    if (memorySettingsOf(persona).extract === 'off') return
    const stated = remembered.filter(isTold)
    for (let from = 0; from < stated.length; from += mostTogether)
      add(persona, stated.slice(from, from + mostTogether), by)
  }

  function add(persona: Persona, turn: MemoryEntry[], by: OnBehalf): void {
    const id = lineOf(persona, by)
    const line = waiting.get(id)
    if (line && line.length + turn.length <= mostTogether) line.push(...turn)
    else begin(id, persona, turn, by)
  }

  function begin(id: string, persona: Persona, line: MemoryEntry[], by: OnBehalf): void {
    // Set before the work is queued: in an empty queue it begins at once, and removes its line.
    waiting.set(id, line)
    const isQueued = behind.run(persona, async (signal) => {
      if (waiting.get(id) === line) waiting.delete(id)
      const earlier = await earlierThan(persona, line)
      const { text, model } = await ask(persona, extractionPrompt(line, earlier), by, signal)
      const { extract_min_confidence: least } = memorySettingsOf(persona)
      const found = factsIn(text, line, redact).filter(({ confidence }) => confidence >= least)
      for (const fact of found) {
        if (signal.aborted) return
        await remember(persona, fact, model, line)
      }
      for (const { earlier: before, by: news, confidence } of endingsIn(text, line, earlier))
        if (confidence >= least && !signal.aborted) await memories.end(persona, before.id, news)
      await profiles.found(
        persona,
        found.flatMap(({ slot, confidence: _confidence, ...fact }) => (slot ? [{ ...fact, slot }] : [])),
        line,
      )
    })
    if (!isQueued) waiting.delete(id)
  }

  /** What the user said before that still holds, as far as these turns may have ended it. */
  async function earlierThan(persona: Persona, line: readonly MemoryEntry[]): Promise<readonly MemoryEntry[]> {
    const found = new Map<string, MemoryEntry>()
    const add = (entry: MemoryEntry) => {
      const isNew = line.some(({ id }) => id === entry.id)
      const isOpen = isTold(entry) && !isPinned(entry.metadata) && !isEnded(entry.metadata)
      if (!isNew && isOpen && entry.metadata['source'] !== 'extract') found.set(entry.id, entry)
    }
    for (const { content } of line)
      for (const { entry } of (await memories.search(persona, { query: content, limit: nearest })).hits) add(entry)
    for (const entry of (await memories.list(persona, { limit: 2 * mostEarlier, offset: 0 })).memories) add(entry)
    return [...found.values()].slice(0, mostEarlier)
  }

  /** Keeps a fact beside its source, unless a memory says the same in the same words: to store it again would take its labels. */
  async function remember(
    persona: Persona,
    { content, memory_id }: FoundFact,
    model: string,
    line: readonly MemoryEntry[],
  ): Promise<void> {
    const { hits } = await memories.search(persona, { query: content, limit: 3 })
    if (hits.some(({ entry }) => entry.content.toLowerCase() === content.toLowerCase())) return
    const { timestamp, metadata } = line.find(({ id }) => id === memory_id)!
    const [speaker, conversation] = [speakerOf(metadata), conversationOf(metadata)]
    await memories.add(persona, {
      content,
      importance_score: 0.5,
      timestamp,
      metadata: {
        source: 'extract',
        extracted_from: memory_id,
        extracted_by: model,
        ...(speaker !== '' && { speaker }),
        ...(conversation !== '' && { conversation }),
      },
    })
  }
}

/** By persona, API key, and whether the turns must stay on this machine. */
function lineOf({ id }: Persona, { key = '', localOnly = false }: OnBehalf): string {
  return `${id} ${key} ${localOnly}`
}
