import type { Scope } from '../../personas/memory/memory.ts'
import { numbersAfter, personaGone, type ScopeRow, width } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { preparedOnce } from './prepared.ts'

/**
 * SQL for a memory's number within its scope: how far it lies above `low`. An integer, where a difference to a bound `low`
 * beyond 32 bits would be a float, which SQLite writes and JSON reads at several times the cost.
 */
export function numberWithin(column: string): string {
  return `(${column} & ${width - 1})`
}

/**
 * A term as the full-text index knows it: with its scope's number before it, so that a scope has posting lists of its own.
 * The view `memory_indexed` writes the same. No term holds a dot, so no two scopes' terms are alike.
 */
export function indexedTerm(scopeId: number, term: string): string {
  return `${scopeId}·${term}`
}

/** The scope's row, or undefined where nothing was ever stored. */
export function findScope(db: Database, scope: Scope): ScopeRow | undefined {
  return preparedOnce(db)<[string, string], ScopeRow>(
    'SELECT scope_id, last_number, memories, length FROM memory_scope WHERE persona_id = ? AND user_id = ?',
  ).get(scope.personaId, scope.userId)
}

/**
 * The scope's row, made if need be. Throws `not_found` where that user has no such persona: it may have been removed
 * since the caller looked, and nothing may be stored under another user's.
 */
export function makeScope(db: Database, scope: Scope): ScopeRow {
  preparedOnce(db)(
    `INSERT INTO memory_scope (persona_id, user_id) SELECT id, user_id FROM persona WHERE id = ? AND user_id = ?
       ON CONFLICT DO NOTHING`,
  ).run(scope.personaId, scope.userId)
  const row = findScope(db, scope)
  if (!row) throw personaGone(scope)
  return row
}

/** The next hundred scopes that hold memories, in the order of their numbers. */
export function scopesAfter(db: Database, after: number): { readonly number: number; readonly scope: Scope }[] {
  return db
    .prepare<[number], { scope_id: number; persona_id: string; user_id: string }>(
      `SELECT scope_id, persona_id, user_id FROM memory_scope WHERE scope_id > ? AND memories > 0
        ORDER BY scope_id LIMIT 100`,
    )
    .all(after)
    .map(({ scope_id, persona_id, user_id }) => ({
      number: scope_id,
      scope: { personaId: persona_id, userId: user_id },
    }))
}

/** The next `count` numbers of a scope. */
export function takeNumbers(db: Database, scope: ScopeRow, count: number): number[] {
  const numbers = numbersAfter(scope, count)
  preparedOnce(db)('UPDATE memory_scope SET last_number = ? WHERE scope_id = ?').run(
    scope.last_number + count,
    scope.scope_id,
  )
  return numbers
}
