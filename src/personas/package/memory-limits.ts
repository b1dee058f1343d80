import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { type Learned, learnedLimits } from '../adaptation/state.ts'
import type { Fields } from '../fields.ts'
import { memorySettingsOf, type Persona } from '../persona.ts'

type Settings = Pick<Persona, 'memory_settings'>

/** Raises the memory limit to the number of imported memories: else the next one that is stored would evict some of them. */
export function withMemoryLimit<T extends Settings>(persona: T, memories: number): T {
  if (memories <= memorySettingsOf(persona).max_memories) return persona
  return { ...persona, memory_settings: { ...persona.memory_settings, max_memories: memories } }
}

/** A warning when `withMemoryLimit` raised the limit. */
export function raisedLimitWarnings(before: Settings, after: Settings): readonly string[] {
  const [limit, most] = [before, after].map((persona) => memorySettingsOf(persona).max_memories)
  if (limit === most) return []
  return [`memory_settings.max_memories was raised from ${limit} to ${most}, so that all memories are kept`]
}

/** The most memories that a persona may have by its own settings. */
export function mostMemories(persona: Settings): number {
  return memorySettingsOf(persona).max_memories
}

/** The error of a merge that would give a persona more memories than its own settings allow. */
export function tooManyMemories(persona: Settings, memories: number): AppError {
  return new AppError(
    'invalid',
    `The persona may keep ${counted(mostMemories(persona), 'memory', 'memories')} and would have ${memories}: nothing was imported`,
    {
      details: [`Raise memory_settings.max_memories to ${memories} first, or import the package as a new persona`],
    },
  )
}

/** A warning for each part of an imported state that is larger than a persona's may be. */
export function truncationWarnings(state: Fields, learned: Learned): readonly string[] {
  const size = (name: string) => Object.keys((state[name] as object | null | undefined) ?? {}).length
  const parts = [
    { name: 'behavioral_weights', kept: learned.traits.size, most: learnedLimits.traits },
    { name: 'learned_preferences', kept: learned.preferences.size, most: learnedLimits.preferences },
  ]
  return parts
    .filter(({ name, kept, most }) => size(name) > most && kept < size(name))
    .map(
      ({ name, kept, most }) =>
        `${size(name)} ${name} came and a persona keeps ${most}: ${size(name) - kept} were left out`,
    )
}
