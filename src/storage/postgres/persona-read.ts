import type { Scope } from '../../personas/memory/memory.ts'
import type { Extent, Revision } from '../../personas/package/archive.ts'
import type { Sql } from './sql.ts'

/** The size of a persona, by counters that are kept as it is stored: see usage-schema.ts. */
export async function extentOf(sql: Sql, { personaId, userId }: Scope): Promise<Extent> {
  const row = await sql.row<Extent>(
    `SELECT coalesce(s.memories, 0) AS memories, coalesce(state.sequence, 0) AS records,
            coalesce(s.bytes, 0) + u.bytes AS bytes
       FROM persona p JOIN persona_usage u ON u.persona_id = p.id
       LEFT JOIN memory_scope s ON s.persona_id = p.id AND s.user_id = p.user_id
       LEFT JOIN persona_state state ON state.persona_id = p.id
      WHERE p.id = $1 AND p.user_id = $2`,
    [personaId, userId],
  )
  return row ?? { memories: 0, records: 0, bytes: 0 }
}

/** The counter of the persona's changes, see revisions-schema.ts; undefined when that user has no such persona. */
export async function revisionOf(sql: Sql, { personaId, userId }: Scope): Promise<Revision | undefined> {
  const row = await sql.row<{ revision: number }>(
    `SELECT revision FROM persona_revision JOIN persona ON persona.id = persona_id WHERE persona_id = $1 AND user_id = $2`,
    [personaId, userId],
  )
  return row && String(row.revision)
}
