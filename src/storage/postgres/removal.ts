import type { Scope } from '../../personas/personas.ts'
import { run, sql, type Work } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { lockScope, makeScope } from '../stores/memory-scope.ts'
import { codeOf, isAway } from './errors.ts'
import type { Database, Transaction } from './sql.ts'

/** All memories of a scope leave, by a scope without a persona, and its record of evictions; the next memory makes another scope. */
export function hideScope({ personaId, userId }: Scope): Work<number> {
  return run(
    sql`UPDATE memory_scope SET persona_id = NULL, user_id = CAST(${hiddenOwner} AS text) || '/' || scope_id
        WHERE persona_id = ${personaId} AND user_id = ${userId}`,
  )
}

/** The same, and the record of evictions stays, with a new scope. How many memories leave. */
export function* hideMemories(scope: Scope): Work<number> {
  const before = yield* lockScope(scope)
  if (!before || before.memories === 0) return 0
  yield* hideScope(scope)
  const { scope_id } = yield* makeScope(scope)
  yield* run(sql`UPDATE memory_eviction SET scope_id = ${scope_id} WHERE scope_id = ${before.scope_id}`)
  return before.memories
}

/** Databases of a process that stops. */
const stopping = new WeakSet<Database>()

/** Has removals end with the slice that is under way: for a service that stops. The next start finishes them. */
export function deferCleanup(db: Database): void {
  stopping.add(db)
}

/** Whether work in slices may go on. */
export function goesOn(db: Database): boolean {
  return !stopping.has(db)
}

/**
 * Removes hidden rows, also those of other processes, in slices. Where the database cannot be written they stay hidden, and are
 * removed by the next call. Rows that another process removes right now are left to it.
 */
export async function removeHidden(db: Database): Promise<void> {
  try {
    while (goesOn(db) && (await db.transaction(removeMemories)));
    while (goesOn(db) && (await db.transaction(removePersona)));
  } catch (reason) {
    if (!isAway(reason) && codeOf(reason) === '') throw reason
  }
}

/** Rows that one transaction removes, a tenth of a second's work at most. */
const slice = { memories: 500, postings: 5000, records: 5000 } as const

/** Removes the next slice of a hidden scope; resolves with whether there was one. */
async function removeMemories(tx: Transaction): Promise<boolean> {
  const scope = await tx.row<{ scope_id: number }>(
    'SELECT scope_id FROM memory_scope WHERE persona_id IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED',
  )
  if (!scope) return false
  const { low, high } = rangeOf(scope.scope_id)
  const first = `(SELECT memory_id FROM memory WHERE memory_id BETWEEN $1 AND $2 ORDER BY memory_id LIMIT ${slice.memories})`
  // Terms and fields of packages go with their memory, by foreign keys; vectors at once, since they are counted by statement.
  const [, memories] = await Promise.all([
    tx.run(`DELETE FROM memory_vector WHERE memory_id IN ${first}`, [low, high]),
    tx.run(`DELETE FROM memory WHERE memory_id IN ${first}`, [low, high]),
  ])
  if (memories === slice.memories) return true
  const postings = await tx.run(
    `DELETE FROM memory_posting WHERE ctid = ANY
       (ARRAY(SELECT ctid FROM memory_posting WHERE scope_id = $1 LIMIT ${slice.postings}))`,
    [scope.scope_id],
  )
  if (postings < slice.postings) await tx.run('DELETE FROM memory_scope WHERE scope_id = $1', [scope.scope_id])
  return true
}

/** The same for a hidden persona; its scopes were hidden with it. */
async function removePersona(tx: Transaction): Promise<boolean> {
  const persona = await tx.row<{ id: string }>(
    'SELECT id FROM persona WHERE user_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED',
    [hiddenOwner],
  )
  if (!persona) return false
  const records = await tx.run(
    `DELETE FROM adaptation WHERE ctid = ANY
       (ARRAY(SELECT a.ctid FROM adaptation a JOIN adaptation_log USING (log_id)
         WHERE persona_id = $1 LIMIT ${slice.records}))`,
    [persona.id],
  )
  if (records < slice.records) await tx.run('DELETE FROM persona WHERE id = $1', [persona.id])
  return true
}
