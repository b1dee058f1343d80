import type { Scope } from '../../personas/memory/memory.ts'
import type { Extent, Revision } from '../../personas/package/archive.ts'
import type { Database } from './connection.ts'

/** The size of a persona, by counters that are kept as it is stored: see usage-schema.ts. */
export function extentOf(db: Database, { personaId, userId }: Scope): Extent {
  const row = db
    .prepare<[string, string], Extent>(
      `SELECT ifnull(memory_scope.memories, 0) AS memories, ifnull(persona_state.sequence, 0) AS records,
           ifnull(memory_scope.bytes, 0) + persona_usage.bytes AS bytes
         FROM persona JOIN persona_usage ON persona_usage.persona_id = persona.id
         LEFT JOIN memory_scope ON memory_scope.persona_id = persona.id AND memory_scope.user_id = persona.user_id
         LEFT JOIN persona_state ON persona_state.persona_id = persona.id
        WHERE persona.id = ? AND persona.user_id = ?`,
    )
    .get(personaId, userId)
  return row ?? { memories: 0, records: 0, bytes: 0 }
}

/** The counter of the persona's changes, see revisions-schema.ts; undefined when that user has no such persona. */
export function revisionOf(db: Database, { personaId, userId }: Scope): Revision | undefined {
  return db
    .prepare<[string, string], string>(
      `SELECT CAST(revision AS TEXT) FROM persona_revision JOIN persona ON persona.id = persona_id
        WHERE persona_id = ? AND user_id = ?`,
    )
    .pluck()
    .get(personaId, userId)
}
