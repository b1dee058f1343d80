import type { Scope } from '../../personas/personas.ts'
import { run, sql } from '../port/port.ts'
import { numbersAfter, type ScopeRow } from '../shared/memory-scope.ts'
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

/** The next `count` numbers of a scope. */
export function takeNumbers(db: Database, { scope_id, ...row }: ScopeRow, count: number): number[] {
  const numbers = numbersAfter({ scope_id, ...row }, count)
  runOn(db, run(sql`UPDATE memory_scope SET last_number = ${row.last_number + count} WHERE scope_id = ${scope_id}`))
  return numbers
}
