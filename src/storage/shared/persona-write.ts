import type { Extent, Outcome, PersonaWrite, RetentionPolicy, Scope, Vector } from '../../personas/personas.ts'

/** The most memories, and records of the log, that are written without a stage. */
const mostAtOnce = 50

/** Whether a write is staged, for its own size or that of what it replaces (the persona's present extent). */
export function isLarge(write: PersonaWrite, { memories, records }: Pick<Extent, 'memories' | 'records'>): boolean {
  if (write.count > mostAtOnce) return true
  if (write.how === 'merge') return false
  return write.log.records.length > mostAtOnce || memories > mostAtOnce || records > mostAtOnce
}

/** Thrown to end a transaction without a trace of it, with this outcome. */
export class TakenBack extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super('taken back')
    this.outcome = outcome
  }
}

/** The outcome for a persona of another revision. */
export const changed: Outcome = { kind: 'changed' }

/** The outcome of a write after which the persona has so many memories, some of them new. */
export function outcomeOf(
  { maxMemories = Number.POSITIVE_INFINITY }: PersonaWrite,
  memories: number,
  gained: number,
): Outcome {
  return memories > maxMemories ? { kind: 'too_many', memories } : { kind: 'done', memories: gained }
}

/** An import brings its memories whole: how many are too many is decided when the next one is stored. */
export const keepAll: Omit<RetentionPolicy, 'now'> = {
  maxMemories: Number.MAX_SAFE_INTEGER,
  maxAge: Number.MAX_SAFE_INTEGER,
  cleanup: false,
}

/**
 * The vector in its space, or in another one where that space has vectors of another dimension: a package may claim any
 * space, and vectors of two lengths in one would break every search in it.
 */
export function inOwnSpace(vector: Vector, known: number | undefined): Vector {
  if (known === undefined || known === vector.values.length) return vector
  const { key, model } = vector.space
  return { ...vector, space: { key: `${key}#${vector.values.length}`, model, dimension: vector.values.length } }
}

/** The scope of the persona that is written. */
export function scopeOf({ persona }: PersonaWrite): Scope {
  return { personaId: persona.id, userId: persona.user_id }
}
