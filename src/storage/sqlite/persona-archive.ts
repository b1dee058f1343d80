import type { PersonaArchive } from '../../personas/dna/archive.ts'
import type { Database } from './connection.ts'
import { findScope } from './memories-scope.ts'
import { writeArrival } from './persona-arrival.ts'
import { readPersona } from './persona-reading.ts'

/** Whole personas in SQLite, across the stores that hold their parts. */
export function createPersonaArchive(db: Database): PersonaArchive {
  return {
    read: async (scope, use) =>
      db.transaction(() => {
        const archived = readPersona(db, scope)
        return archived && use(archived)
      })(),
    size: (scope) => findScope(db, scope)?.memories ?? 0,
    write: (arrival, signal) => writeArrival(db, arrival, signal),
  }
}
