import { type EmbeddingClaim, type Scope, spaceKeptMs } from '../../personas/memory/memory.ts'
import { row, type StoreDatabase, sql } from '../port/port.ts'

/** See `MemoryStore.claimEmbedding`. The statement writes a row where the claim is granted. */
export async function claimEmbedding(
  db: StoreDatabase,
  { personaId, userId }: Scope,
  { holder, model, space, heldFor, now }: EmbeddingClaim,
): Promise<boolean> {
  // Where an idle space is claimed for long enough a search need not write.
  const kept = row(
    sql`SELECT 1 AS kept FROM memory_scope JOIN embedding_lease ON embedding_lease.scope_id = memory_scope.scope_id
        WHERE persona_id = ${personaId} AND user_id = ${userId} AND space = ${space} AND held_until <= ${now}
          AND kept_until > ${now + spaceKeptMs / 2}`,
  )
  if (heldFor === 0 && (await db.read(kept))) return true
  const granted = await db.run(
    sql`INSERT INTO embedding_lease (scope_id, holder, model, space, held_until, kept_until)
        SELECT scope_id, CAST(${holder} AS text), CAST(${model} AS text), CAST(${space} AS text),
            CAST(${now + heldFor} AS bigint), CAST(${now + spaceKeptMs} AS bigint)
          FROM memory_scope WHERE persona_id = ${personaId} AND user_id = ${userId}
        ON CONFLICT (scope_id) DO UPDATE SET holder = excluded.holder, model = excluded.model,
            held_until = excluded.held_until,
            space = coalesce(excluded.space,
              CASE WHEN embedding_lease.model = excluded.model THEN embedding_lease.space END),
            kept_until = CASE WHEN excluded.space IS NULL THEN embedding_lease.kept_until ELSE excluded.kept_until END
          WHERE (embedding_lease.holder = excluded.holder OR embedding_lease.held_until <= ${now})
            AND (embedding_lease.holder = excluded.holder OR embedding_lease.model <> excluded.model
              OR embedding_lease.space IS NULL OR excluded.space IS NULL OR embedding_lease.space = excluded.space
              OR embedding_lease.kept_until <= ${now})`,
  )
  return granted > 0
}
