import type { Scope } from '../../personas/memory/memory.ts'
import type { ScopeRow } from '../shared/memory-scope.ts'
import * as scopes from '../stores/memory-scope.ts'
import { runOn } from './driver.ts'
import type { Sql, Transaction } from './sql.ts'

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
