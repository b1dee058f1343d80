import type { Scope } from '../../personas/personas.ts'
import type { ScopeRow } from '../shared/memory-scope.ts'
import * as scopes from '../stores/memory-scope.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'

/** The steps of scopes for the stores that are native to SQLite. */
export function findScope(db: Database, scope: Scope): ScopeRow | undefined {
  return runOn(db, scopes.findScope(scope))
}

export function makeScope(db: Database, scope: Scope): ScopeRow {
  return runOn(db, scopes.makeScope(scope))
}
