import type { Persona } from '../persona.ts'
import type { Adaptation } from './adaptations.ts'
import { noticeFeedback } from './feedback.ts'
import { adaptationPrompt } from './prompt.ts'

/** How chat meets adaptation: what it tells the model, and what it hears from the user. */
export interface ChatHooks {
  /** What the persona has learned of its user, as text for the model; '' for nothing. */
  learned(persona: Persona): Promise<string>
  /** Told what the user said about an answer that went before it. */
  observe(persona: Persona, said: string): Promise<void>
}

export function chatHooks(adaptation: Pick<Adaptation, 'state' | 'observe'>): ChatHooks {
  return {
    learned: async (persona) => adaptationPrompt(await adaptation.state(persona)),
    async observe(persona, said) {
      const observation = noticeFeedback(said)
      if (observation) await adaptation.observe(persona, observation)
    },
  }
}
