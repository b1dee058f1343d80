import { z } from 'zod'
import type { Owner } from './seat.ts'

/** The most preferences of an answer, and the most characters of one as JSON. */
const mostPreferences = 100
const longestPreference = 500

/** A persona and its learned state, in the answers of the tools. */
export const personaState = z.object({
  name: z.string(),
  description: z.exactOptional(z.string()),
  preferences: z
    .array(z.object({ name: z.string(), value: z.string(), confidence: z.number(), established: z.boolean() }))
    .max(mostPreferences)
    .describe('What the user prefers, surest first; values other than texts are JSON'),
  traits: z
    .array(z.object({ name: z.string(), weight: z.number() }))
    .max(200)
    .describe('How she behaves, from -1 to 1'),
  left_out: z.int().min(0).max(1000).describe('How many further preferences there are'),
  last_change: z.string().describe('ISO 8601'),
})

/** The most characters of a description. */
const longestDescription = 4_000

/** The state of a persona for a model: without hashes, ids and evidence, the surest preferences first. */
export function stateOf({ name, description, state }: Owner): z.input<typeof personaState> {
  const preferences = Object.entries(state.learned_preferences)
    .map(([key, { value, confidence, established }]) => ({ name: key, value: shown(value), confidence, established }))
    .sort((left, right) => right.confidence - left.confidence)
  return {
    name,
    ...(description !== undefined && { description: description.slice(0, longestDescription) }),
    preferences: preferences.slice(0, mostPreferences),
    traits: Object.entries(state.behavioral_weights).map(([key, weight]) => ({ name: key, weight })),
    left_out: Math.max(0, preferences.length - mostPreferences),
    last_change: new Date(state.last_mutation).toISOString(),
  }
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, longestPreference)
}
