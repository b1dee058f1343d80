import type { PersonaArchive } from '../../personas/package/archive.ts'
import type { Context } from './context.ts'

/** Whole personas in PostgreSQL. */
export function createPersonaArchive(_context: Context): PersonaArchive {
  throw new Error('Not written yet')
}
