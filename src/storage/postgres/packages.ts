import type { PersonaArchive } from '../../personas/package/archive.ts'
import { extentOf } from '../stores/personas.ts'
import type { Context } from './context.ts'
import { runOn } from './driver.ts'
import { openSnapshot } from './persona-snapshot.ts'
import { dryRun, stagePersona } from './persona-write.ts'
import { removeHidden } from './removal.ts'
import { vectorColumn } from './vectors-column.ts'

/** Whole personas in PostgreSQL, across the stores that hold their parts. */
export function createPersonaArchive(context: Context): PersonaArchive {
  const { db } = context
  return {
    snapshot: async (scope) => openSnapshot(db, await vectorColumn(db), scope),
    extent: (scope) => runOn(db, extentOf(scope)),
    async greeting({ personaId, userId }) {
      const row = await db.row<{ greeting: string | null }>(
        `SELECT greeting FROM persona_carried JOIN persona ON persona.id = persona_carried.persona_id
          WHERE persona.id = $1 AND user_id = $2`,
        [personaId, userId],
      )
      return row?.greeting == null ? undefined : JSON.parse(row.greeting)
    },
    stage: (write, signal) => stagePersona(context, write, signal),
    dryRun: (write, signal) => dryRun(context, write, signal),
    // An unfinished write ended with its connection; only removed rows are left.
    sweep: () => removeHidden(db),
  }
}
