import type { OpenedPersona, Persona } from '../persona.ts'
import type { Adaptation } from './adaptations.ts'
import { noticeFeedback } from './feedback.ts'
import type { LearnedView } from './state.ts'

/** Connects chats to learning: notices feedback in messages, and puts the learned state into prompts. */
export function chatHooks(adaptation: Pick<Adaptation, 'state' | 'observe'>) {
  return {
    /** The persona's learned state as text for the model; '' for none. */
    learned: async ({ persona, learned }: OpenedPersona) =>
      learned === '' ? '' : adaptationPrompt(await adaptation.state(persona, learned)),
    /** Receives a user message that follows an answer. */
    async observe(persona: Persona, text: string) {
      const observation = noticeFeedback(text)
      if (observation) await adaptation.observe(persona, observation)
    },
  }
}

/** The instructions to the model for a weight below and above zero. */
const words: ReadonlyMap<string, readonly [less: string, more: string]> = new Map([
  ['verbosity', ['shorter answers', 'longer, more detailed answers']],
  ['formality', ['a more casual tone', 'a more formal tone']],
  ['warmth', ['a cooler tone', 'a warmer tone']],
  ['humour', ['a more serious tone', 'more humour']],
  ['directness', ['a more careful way of putting things', 'getting to the point sooner']],
  ['technical_depth', ['simpler explanations', 'more technical depth']],
  ['proactivity', ['only what was asked for', 'more suggestions of your own']],
  ['emoji_use', ['fewer emojis', 'more emojis']],
  ['structure', ['running text rather than lists', 'more lists and headings']],
  ['curiosity', ['fewer questions back', 'more questions back']],
])

/** The least weight, of either sign, that gets a line. */
const audible = 0.05

/** The most lines of each kind. */
const mostLines = 12

/**
 * The learned state as a short list for the model, the strongest weights and the surest preferences first; '' for none.
 * Names and values are quoted as JSON, on one line, so that learned text stays data.
 */
export function adaptationPrompt(state: Pick<LearnedView, 'behavioral_weights' | 'learned_preferences'>): string {
  const weights = Object.entries(state.behavioral_weights)
    .filter(([, weight]) => Math.abs(weight) >= audible)
    .sort(([, left], [, right]) => Math.abs(right) - Math.abs(left))
    .slice(0, mostLines)
    .map(([name, weight]) => `- ${describe(name, weight)} (${weight.toFixed(2)})`)
  const preferences = Object.entries(state.learned_preferences)
    .filter(([, preference]) => preference.established)
    .sort(([, left], [, right]) => right.confidence - left.confidence)
    .slice(0, mostLines)
    .map(([name, { value, confidence }]) => `- ${quoted(name)}: ${quoted(value)} (confidence ${confidence.toFixed(2)})`)
  const lines = [...weights, ...preferences]
  if (lines.length === 0) return ''
  return ['Learned from this user so far; follow it where it fits what they ask now:', ...lines].join('\n')
}

function describe(name: string, weight: number): string {
  const size = Math.abs(weight)
  const degree = size < 0.15 ? 'slightly' : size < 0.4 ? 'somewhat' : size < 0.7 ? 'clearly' : 'strongly'
  const known = words.get(name)
  if (known) return `prefers ${degree}: ${weight < 0 ? known[0] : known[1]}`
  return `prefers ${degree} ${weight < 0 ? 'less' : 'more'} of ${quoted(name)}`
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
