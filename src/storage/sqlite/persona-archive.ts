import type { PersonaArchive } from '../../personas/personas.ts'
import { run, type StoreDatabase, sql } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { createPersonaArchive as createArchive } from '../stores/persona-archive.ts'
import type { PersonaWriteParts } from '../stores/persona-write.ts'
import type { Database } from './connection.ts'
import { onSqlite } from './driver.ts'
import { translating } from './errors.ts'
import { createMemoryIndex } from './memory-index.ts'
import { openSnapshot } from './persona-snapshot.ts'
import { sweepStages } from './persona-stage.ts'
import { stageInSlices } from './persona-write.ts'
import { hideMemories, removeHidden } from './removal.ts'

/** Whole personas in SQLite; the connections of open snapshots are in `readers`. */
export function createPersonaArchive(
  db: Database,
  driver: StoreDatabase,
  readers: Set<Database>,
  limits?: StoredLimits,
): PersonaArchive {
  const write: PersonaWriteParts = {
    index: createMemoryIndex(db),
    limits,
    hideMemories: (scope) => onSqlite(() => hideMemories(db, scope)),
    carry: (personaId, fields) =>
      run(
        sql`INSERT OR REPLACE INTO persona_carried (persona_id, fields) VALUES (${personaId}, ${JSON.stringify(fields)})`,
      ),
  }
  return createArchive(driver, {
    limits,
    parts: () => write,
    snapshot: (scope) => openSnapshot(db.name, scope, readers),
    stage: (whole, signal) => stageInSlices(db, write, whole, signal),
    removeHidden: () => removeHidden(db),
    sweep: () => sweepStages(db),
    translating,
  })
}
