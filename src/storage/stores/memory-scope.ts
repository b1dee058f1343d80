import type { Scope } from '../../personas/personas.ts'
import { forUpdate, nothing, row, rows, run, type Statement, sql, together, type Work } from '../port/port.ts'
import { personaGone, type ScopeRow } from '../shared/memory-scope.ts'

/** The scope's row, or undefined where nothing was ever stored. */
export function findScope({ personaId, userId }: Scope): Work<ScopeRow | undefined> {
  return row(
    sql`SELECT scope_id, last_number, memories, length FROM memory_scope
        WHERE persona_id = ${personaId} AND user_id = ${userId}`,
  )
}

/** The same, locked: of all writers of a scope one continues, and the others wait for its end. */
export function lockScope({ personaId, userId }: Scope): Work<ScopeRow | undefined> {
  return row(
    sql`SELECT scope_id, last_number, memories, length FROM memory_scope
        WHERE persona_id = ${personaId} AND user_id = ${userId} ${forUpdate}`,
  )
}

/** The scope's number, as a value in a statement. */
export function scopeId({ personaId, userId }: Scope): Statement {
  return sql`(SELECT scope_id FROM memory_scope WHERE persona_id = ${personaId} AND user_id = ${userId})`
}

/**
 * The scope's row, locked, and made if need be. Throws `not_found` where that user has no such persona: it may have been
 * removed since the caller looked, and nothing may be stored under another user's.
 */
export function* makeScope(scope: Scope): Work<ScopeRow> {
  return (yield* makeScopeWith(scope, nothing))[0]
}

/** The same, with what `read` finds in the scope once it is locked, on the same way there and back. */
export function* makeScopeWith<R>(scope: Scope, read: () => Work<R>): Work<[ScopeRow, R]> {
  // A wipe may take away the row that was waited for: then another look makes the next one, and several wipes may come.
  for (let look = 0; look < mostLooks; look++) {
    const [found, rest] = yield* together(takeScope(scope), read())
    if (found) return [found, rest]
  }
  throw personaGone(scope)
}

/** Looks for the row of a scope beside wipes of it. */
const mostLooks = 5

function* takeScope(scope: Scope): Work<ScopeRow | undefined> {
  const { personaId, userId } = scope
  const [, found] = yield* together(
    // Without the last condition every write would take a number of the sequence.
    run(
      sql`INSERT INTO memory_scope (persona_id, user_id) SELECT id, user_id FROM persona
          WHERE id = ${personaId} AND persona.user_id = ${userId} AND NOT EXISTS (
            SELECT 1 FROM memory_scope WHERE persona_id = ${personaId} AND user_id = ${userId})
          ON CONFLICT DO NOTHING`,
    ),
    lockScope(scope),
  )
  return found
}

/** The next hundred scopes that hold memories, in the order of their numbers. */
export function* scopesAfter(after: number) {
  const found = yield* rows<{ scope_id: number; persona_id: string; user_id: string }>(
    sql`SELECT scope_id, persona_id, user_id FROM memory_scope
        WHERE scope_id > ${after} AND memories > 0 AND persona_id IS NOT NULL ORDER BY scope_id LIMIT 100`,
  )
  return found.map(({ scope_id, persona_id, user_id }) => ({
    number: scope_id,
    scope: { personaId: persona_id, userId: user_id },
  }))
}
