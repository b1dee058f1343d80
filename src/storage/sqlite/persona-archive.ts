import type { PersonaArchive } from '../../personas/package/archive.ts'
import { extentOf } from '../stores/personas.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { openSnapshot } from './persona-snapshot.ts'
import { sweepStages } from './persona-stage.ts'
import { dryRun, stagePersona } from './persona-write.ts'
import type { Quota } from './quota.ts'

/** Whole personas in SQLite, across the stores that hold their parts; the connections of open snapshots stand in `readers`. */
export function createPersonaArchive(db: Database, readers: Set<Database>, quota?: Quota): PersonaArchive {
  return {
    snapshot: async (scope) => openSnapshot(db.name, scope, readers),
    extent: async (scope) => runOn(db, extentOf(scope)),
    greeting: async ({ personaId, userId }) =>
      db
        .prepare<[string, string], unknown>(
          `SELECT json_extract(fields, '$.card.data.first_mes') FROM persona_carried
             JOIN persona ON persona.id = persona_carried.persona_id WHERE persona.id = ? AND user_id = ?`,
        )
        .pluck()
        .get(personaId, userId),
    stage: (write, signal) => stagePersona(db, write, signal, quota),
    dryRun: (write, signal) => dryRun(db, write, signal, quota),
    sweep: () => sweepStages(db),
  }
}
