import { memorySettingsOf, type Personas } from '../persona.ts'
import type { Behind } from './behind.ts'
import type { Conversation, ConversationStore } from './conversation.ts'
import type { AskModel } from './extraction.ts'
import type { Redact } from './keeping.ts'
import { checkedSummary, summaryPrompt } from './summary.ts'

export interface SummariesParts {
  readonly ask: AskModel
  readonly behind: Behind
  readonly personas: Pick<Personas, 'get'>
  readonly store: Pick<ConversationStore, 'end' | 'messages'>
  readonly redact: Redact
}

/**
 * Has the model of a persona that extracts write the summary of an ended conversation, in place of the one without a model,
 * which stays where it fails. The returned function resolves once that is queued.
 */
export function createSummaries({ ask, behind, personas, store, redact }: SummariesParts) {
  return async (conversation: Conversation): Promise<void> => {
    const { user_id: owner, persona_id, id, ended_at } = conversation
    if (persona_id === undefined || ended_at === undefined) return
    const persona = await personas.get(owner, persona_id).catch(() => undefined)
    const { enabled, extract } = memorySettingsOf(persona ?? {})
    if (!persona || !enabled || extract === 'off') return
    behind.run(persona, async (signal) => {
      const messages = await store.messages(owner, id)
      const localOnly = messages.some(({ message }) => message.extra_content?.['aichat']?.['local_only'] === true)
      const { text } = await ask(persona, summaryPrompt(messages, redact), { localOnly }, signal)
      const summary = checkedSummary(text, messages, redact)
      if (!signal.aborted) await store.end(owner, id, { messages: messages.length, summary, at: ended_at })
    })
  }
}
