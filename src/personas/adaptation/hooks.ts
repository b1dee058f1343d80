import type { Persona } from '../persona.ts'
import type { Adaptation } from './adaptations.ts'
import { noticeFeedback } from './feedback.ts'
import { adaptationPrompt } from './prompt.ts'

/** The hooks of chat into adaptation. */
export interface ChatHooks {
  /** The persona's learned state as text for the model; '' for none. */
  learned(persona: Persona): Promise<string>
  /** Receives a user message that follows an answer. */
  observe(persona: Persona, text: string): Promise<void>
}

/** Connects chats to learning: notices feedback in messages, and puts the learned state into prompts. */
export function chatHooks(adaptation: Pick<Adaptation, 'state' | 'observe'>): ChatHooks {
  return {
    learned: async (persona) => adaptationPrompt(await adaptation.state(persona)),
    async observe(persona, text) {
      const observation = noticeFeedback(text)
      if (observation) await adaptation.observe(persona, observation)
    },
  }
}
