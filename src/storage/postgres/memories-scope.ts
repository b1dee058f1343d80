import type { Scope } from '../../personas/memory/memory.ts'
import type { ScopeRow } from '../shared/memory-scope.ts'
import * as scopes from '../stores/memory-scope.ts'
import { runOn } from './driver.ts'
import type { Sql, Transaction } from './sql.ts'

/** SQL for a condition on `memory_scope`; the parameters are `$1` and `$2`, as of `valuesOfScope`. */
export const isScope = 'persona_id = $1 AND memory_scope.user_id = $2'

export function valuesOfScope({ personaId, userId }: Scope): readonly [string, string] {
  return [personaId, userId]
}

/** The steps of scopes for the stores that are native to PostgreSQL. */
export function findScope(sql: Sql, scope: Scope): Promise<ScopeRow | undefined> {
  return runOn(sql, scopes.findScope(scope))
}

export function lockScope(tx: Transaction, scope: Scope): Promise<ScopeRow | undefined> {
  return runOn(tx, scopes.lockScope(scope))
}

export function makeScope(tx: Transaction, scope: Scope): Promise<ScopeRow> {
  return runOn(tx, scopes.makeScope(scope))
}
