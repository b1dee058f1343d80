import { AppError } from '../../errors.ts'
import type { Scope } from '../../personas/memory/memory.ts'
import type { IncomingMemory, Outcome, PersonaWrite, PublishConditions } from '../../personas/package/archive.ts'
import { changed, inOwnSpace, keepAll, outcomeOf, scopeOf } from '../shared/persona-write.ts'
import { appendRecord, replaceLog } from '../stores/adaptations.ts'
import { insertBackup } from '../stores/backups.ts'
import { insertPersona, revisionOf, savePersona } from '../stores/personas.ts'
import { checkQuota } from '../stores/quota.ts'
import type { Context } from './context.ts'
import { runOn } from './driver.ts'
import { findScope, lockScope } from './memories-scope.ts'
import { addMemories } from './memories-write.ts'
import { greetingOf } from './packages-greeting.ts'
import type { Transaction } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * Writes all parts of a persona but its memories and log, which `bring` puts under it; `bring` returns the number of
 * new memories. Roll its writes back unless the outcome is `done`.
 */
export async function putInPlace(
  tx: Transaction,
  { limits }: Pick<Context, 'limits'>,
  write: PersonaWrite,
  { expected, backup }: PublishConditions,
  bring: () => Promise<number>,
): Promise<Outcome> {
  const { persona, how } = write
  const scope = scopeOf(write)
  if (await isOrphan(tx, persona.user_id)) throw new AppError('not_found', 'The user was removed meanwhile')
  const there = await tx.row<{ user_id: string }>('SELECT user_id FROM persona WHERE id = $1 FOR NO KEY UPDATE', [
    persona.id,
  ])
  if (how === 'create' ? there : there?.user_id !== persona.user_id) throw goneMeanwhile(persona.id)
  await lockScope(tx, scope)
  if (how !== 'create' && (await runOn(tx, revisionOf(scope))) !== expected) return changed
  if (backup) await runOn(tx, insertBackup(backup))
  if (how !== 'create') await runOn(tx, savePersona(persona))
  else if (!(await runOn(tx, insertPersona(persona)))) throw goneMeanwhile(persona.id)
  const gained = await bring()
  if (how !== 'merge') await carry(tx, write)
  const outcome = outcomeOf(write, (await findScope(tx, scope))?.memories ?? 0, gained)
  if (outcome.kind === 'done') await runOn(tx, checkQuota(limits, persona.user_id))
  return outcome
}

function goneMeanwhile(id: string): AppError {
  return new AppError('not_found', `The persona "${id}" was removed or created by another process meanwhile`)
}

/** Whether there are users, and this owner is none of them any more; one that is stays until this transaction has ended. */
async function isOrphan(tx: Transaction, owner: string): Promise<boolean> {
  if (owner === 'local') return false
  if (await tx.row('SELECT 1 FROM account WHERE id = $1 FOR KEY SHARE', [owner])) return false
  return (await tx.row('SELECT 1 FROM account LIMIT 1')) !== undefined
}

/** Writes the fields without a place of their own, with the greeting of the card beside them. */
async function carry(tx: Transaction, { persona, passthrough }: PersonaWrite): Promise<void> {
  await tx.run(
    `INSERT INTO persona_carried (persona_id, fields, greeting) VALUES ($1, $2, $3)
       ON CONFLICT (persona_id) DO UPDATE SET fields = excluded.fields, greeting = excluded.greeting`,
    [persona.id, JSON.stringify(passthrough), greetingOf(passthrough)],
  )
}

/** Writes the log, or for `merge` the records that are added. */
export async function addToLog(tx: Transaction, write: PersonaWrite): Promise<void> {
  const scope = scopeOf(write)
  const { records, learned } = write.log
  if (write.how !== 'merge') return runOn(tx, replaceLog(scope.personaId, records, learned))
  for (const record of records)
    if (!(await runOn(tx, appendRecord(scope, record, learned))))
      throw new AppError('internal', 'A merged record does not follow the log of its revision')
}

/** Writes memories of a package, with the fields that have no place of their own. */
export async function bringMemories(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  batch: readonly IncomingMemory[],
): Promise<void> {
  const keys = [...new Set(batch.flatMap(({ vector }) => (vector ? [vector.space.key] : [])))]
  const known = new Map(
    (
      await tx.rows<{ key: string; dimension: number }>(
        'SELECT key, dimension FROM embedding_space WHERE key = ANY ($1)',
        [keys],
      )
    ).map(({ key, dimension }) => [key, dimension]),
  )
  const fitting = batch.map((memory) => ({
    ...memory,
    ...(memory.vector && { vector: inOwnSpace(memory.vector, known.get(memory.vector.space.key)) }),
  }))
  const { entries } = await addMemories(tx, column, scope, fitting, { ...keepAll, now: Date.now() })
  // The last one of a memory counts.
  const carried = new Map(
    batch.flatMap(({ extra }, at) =>
      Object.keys(extra).length > 0 ? [[entries[at]!.id, JSON.stringify(extra)] as const] : [],
    ),
  )
  if (carried.size === 0) return
  await tx.run(
    `INSERT INTO memory_carried (memory_id, fields)
       SELECT memory_id, c.fields FROM unnest($3::text[], $4::text[]) c (id, fields)
         JOIN memory_scope ON persona_id = $1 AND user_id = $2 JOIN memory USING (scope_id)
        WHERE memory.id = c.id
       ON CONFLICT (memory_id) DO UPDATE SET fields = excluded.fields`,
    [scope.personaId, scope.userId, [...carried.keys()], [...carried.values()]],
  )
}
