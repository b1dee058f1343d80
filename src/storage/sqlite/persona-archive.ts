import type { PersonaArchive } from '../../personas/package/archive.ts'
import type { Database } from './connection.ts'
import { extentOf, readPersona } from './persona-read.ts'
import { sweepStages } from './persona-stage.ts'
import { writePersona } from './persona-write.ts'
import type { Quota } from './quota.ts'

/** Whole personas in SQLite, across the stores that hold their parts. */
export function createPersonaArchive(db: Database, quota?: Quota): PersonaArchive {
  return {
    read: async (scope, use) =>
      db.transaction(() => {
        const archived = readPersona(db, scope)
        return archived && use(archived)
      })(),
    extent: (scope) => extentOf(db, scope),
    write: (write, signal) => writePersona(db, write, signal, quota),
    sweep: () => sweepStages(db),
  }
}
