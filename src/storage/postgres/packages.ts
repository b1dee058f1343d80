import type { PersonaArchive } from '../../personas/personas.ts'
import { run, sql } from '../port/port.ts'
import { greetingOf } from '../schema/derived.ts'
import { createPersonaArchive as createArchive } from '../stores/persona-archive.ts'
import type { PersonaWriteParts } from '../stores/persona-write.ts'
import type { Context } from './context.ts'
import { translating } from './errors.ts'
import { memoryIndexOf } from './memory-index.ts'
import { openSnapshot } from './persona-snapshot.ts'
import { stageInTransaction } from './persona-stage.ts'
import { hideMemories, removeHidden } from './removal.ts'
import { vectorColumn } from './vectors-column.ts'

/** Whole personas in PostgreSQL. */
export function createPersonaArchive(context: Context): PersonaArchive {
  const { db, limits } = context
  const parts = async (): Promise<PersonaWriteParts> => ({
    index: memoryIndexOf(await vectorColumn(db)),
    limits,
    hideMemories,
    carry: (personaId, fields) =>
      run(
        sql`INSERT INTO persona_carried (persona_id, fields, greeting)
            VALUES (${personaId}, ${JSON.stringify(fields)}, ${greetingOf(fields)})
            ON CONFLICT (persona_id) DO UPDATE SET fields = excluded.fields, greeting = excluded.greeting`,
      ),
  })
  return createArchive(context.driver, {
    limits,
    parts,
    snapshot: async (scope) => openSnapshot(db, await vectorColumn(db), scope),
    stage: async (write, signal) => stageInTransaction(context, await parts(), write, signal),
    removeHidden: () => removeHidden(db),
    // An unfinished write ended with its connection; only removed rows are left.
    sweep: () => removeHidden(db),
    translating,
  })
}
