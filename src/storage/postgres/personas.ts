import type { PersonaStore } from '../../personas/persona.ts'
import type { Context } from './context.ts'

/** Personas in PostgreSQL. */
export function createPersonaStore(_context: Context): PersonaStore {
  throw new Error('Not written yet')
}
