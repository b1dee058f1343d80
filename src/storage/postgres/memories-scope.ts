import type { Scope } from '../../personas/memory/memory.ts'
import { personaGone, type ScopeRow } from '../shared/memory-scope.ts'
import type { Sql, Transaction } from './sql.ts'

const columns = 'scope_id, last_number, memories, length'

/** SQL for a condition on `memory_scope`; the parameters are `$1` and `$2`, as of `valuesOfScope`. */
export const isScope = 'persona_id = $1 AND memory_scope.user_id = $2'

export function valuesOfScope({ personaId, userId }: Scope): readonly [string, string] {
  return [personaId, userId]
}

/** The scope's row, or undefined where nothing was ever stored. */
export function findScope(sql: Sql, scope: Scope): Promise<ScopeRow | undefined> {
  return sql.row<ScopeRow>(`SELECT ${columns} FROM memory_scope WHERE ${isScope}`, valuesOfScope(scope))
}

/** The same, locked: of all writers of a scope one goes on, and the others wait for its end. */
export function lockScope(tx: Transaction, scope: Scope): Promise<ScopeRow | undefined> {
  return tx.row<ScopeRow>(`SELECT ${columns} FROM memory_scope WHERE ${isScope} FOR UPDATE`, valuesOfScope(scope))
}

/**
 * The scope's row, locked, and made if need be. Throws `not_found` where that user has no such persona: it may have been
 * removed since the caller looked, and nothing may be stored under another user's.
 */
export async function makeScope(tx: Transaction, scope: Scope): Promise<ScopeRow> {
  // The row that was waited for may have left with its memories meanwhile: then another look makes the next one.
  const row = (await takeScope(tx, scope)) ?? (await takeScope(tx, scope))
  if (!row) throw personaGone(scope)
  return row
}

async function takeScope(tx: Transaction, scope: Scope): Promise<ScopeRow | undefined> {
  const [, row] = await Promise.all([
    // Without the second condition every write would take a number of the sequence.
    tx.run(
      `INSERT INTO memory_scope (persona_id, user_id) SELECT id, user_id FROM persona
         WHERE id = $1 AND persona.user_id = $2 AND NOT EXISTS (SELECT 1 FROM memory_scope WHERE ${isScope})
         ON CONFLICT DO NOTHING`,
      valuesOfScope(scope),
    ),
    lockScope(tx, scope),
  ])
  return row
}

/** The next hundred scopes that hold memories, in the order of their numbers. */
export async function scopesAfter(
  sql: Sql,
  after: number,
): Promise<{ readonly number: number; readonly scope: Scope }[]> {
  const rows = await sql.rows<{ scope_id: number; persona_id: string; user_id: string }>(
    `SELECT scope_id, persona_id, user_id FROM memory_scope
      WHERE scope_id > $1 AND memories > 0 AND persona_id IS NOT NULL ORDER BY scope_id LIMIT 100`,
    [after],
  )
  return rows.map(({ scope_id, persona_id, user_id }) => ({
    number: scope_id,
    scope: { personaId: persona_id, userId: user_id },
  }))
}
