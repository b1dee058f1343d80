import { type EmbeddingClaim, type Scope, spaceKeptMs } from '../../personas/memory/memory.ts'

/** The values of both statements, in the order of their numbers. */
export function claimValues({ personaId, userId }: Scope, { holder, model, space, heldFor, now }: EmbeddingClaim) {
  return [personaId, userId, holder, model, space ?? null, now, now + heldFor, now + spaceKeptMs] as const
}

/**
 * SQL that claims the embedding of a scope's memories, which both databases understand; it writes a row where the claim is
 * granted. @param value the parameter with that number, with its type
 */
export function claimStatement(value: (number: number, type: 'text' | 'bigint') => string): string {
  const now = value(6, 'bigint')
  return `INSERT INTO embedding_lease (scope_id, holder, model, space, held_until, kept_until)
    SELECT scope_id, ${value(3, 'text')}, ${value(4, 'text')}, ${value(5, 'text')}, ${value(7, 'bigint')}, ${value(8, 'bigint')}
      FROM memory_scope WHERE persona_id = ${value(1, 'text')} AND user_id = ${value(2, 'text')}
    ON CONFLICT (scope_id) DO UPDATE SET holder = excluded.holder, model = excluded.model, held_until = excluded.held_until,
        space = coalesce(excluded.space, CASE WHEN embedding_lease.model = excluded.model THEN embedding_lease.space END),
        kept_until = CASE WHEN excluded.space IS NULL THEN embedding_lease.kept_until ELSE excluded.kept_until END
      WHERE (embedding_lease.holder = excluded.holder OR embedding_lease.held_until <= ${now})
        AND (embedding_lease.holder = excluded.holder OR embedding_lease.model <> excluded.model OR embedding_lease.space IS NULL OR excluded.space IS NULL
          OR embedding_lease.space = excluded.space OR embedding_lease.kept_until <= ${now})`
}

/** SQL for a row where an idle space is claimed for long enough: a search need not write then. */
export function keptStatement(value: (number: number, type: 'text' | 'bigint') => string): string {
  return `SELECT 1 AS kept FROM memory_scope JOIN embedding_lease ON embedding_lease.scope_id = memory_scope.scope_id
    WHERE persona_id = ${value(1, 'text')} AND user_id = ${value(2, 'text')} AND space = ${value(5, 'text')}
      AND held_until <= ${value(6, 'bigint')} AND kept_until > ${value(6, 'bigint')} + ${spaceKeptMs / 2}`
}
