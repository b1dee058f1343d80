import { AppError } from '../../errors.ts'
import {
  emptyProfile,
  type IncomingMemory,
  type Outcome,
  type Passthrough,
  type PersonaWrite,
  type PublishConditions,
  type Scope,
} from '../../personas/personas.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { among, row, rows, run, sql, tableOf, together, type Work, word } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { changed, inOwnSpace, keepAll, outcomeOf, scopeOf } from '../shared/persona-write.ts'
import { account } from './account-sessions.ts'
import { appendRecord, replaceLog } from './adaptations.ts'
import { insertBackup } from './backups.ts'
import { findScope, lockScope } from './memory-scope.ts'
import { addMemories } from './memory-write.ts'
import { localUser } from './ownership.ts'
import { insertPersona, revisionOf, savePersona } from './personas.ts'
import { writeProfile } from './profiles.ts'
import { checkQuota } from './quota.ts'

/** What the databases do in their own way when a whole persona is written. */
export interface PersonaWriteParts {
  readonly index: MemoryIndex
  readonly limits: StoredLimits | undefined
  /** All memories of a scope leave; the record of evictions stays. How many they are. */
  hideMemories(scope: Scope): Work<number>
  /** Writes the fields of a persona that have no place of their own. */
  carry(personaId: string, fields: Passthrough): Work<unknown>
}

/**
 * Writes all parts of a persona but its memories and log, which `bring` puts under it; the result of `bring` is the number of
 * new memories. Its writes are to be rolled back unless the outcome is `done`.
 */
export function* putInPlace(
  parts: PersonaWriteParts,
  write: PersonaWrite,
  { expected, backup }: PublishConditions,
  bring: () => Work<number>,
): Work<Outcome> {
  const { persona, how } = write
  const scope = scopeOf(write)
  if (yield* isOrphan(persona.user_id)) throw new AppError('not_found', 'The user was removed meanwhile')
  const there = yield* row<{ user_id: string }>(
    sql`SELECT user_id FROM persona WHERE id = ${persona.id} ${word('', 'FOR NO KEY UPDATE')}`,
  )
  if (how === 'create' ? there : there?.user_id !== persona.user_id) throw goneMeanwhile(persona.id)
  const [, revision] = yield* together(lockScope(scope), revisionOf(scope))
  if (how !== 'create' && revision !== expected) return changed
  if (backup) yield* insertBackup(backup)
  if (how !== 'create') yield* savePersona(persona)
  else if (!(yield* insertPersona(persona))) throw goneMeanwhile(persona.id)
  const gained = yield* bring()
  if (how !== 'merge') {
    yield* parts.carry(persona.id, write.passthrough)
    yield* writeProfile(persona.id, write.profile ?? emptyProfile)
  }
  const outcome = outcomeOf(write, (yield* findScope(scope))?.memories ?? 0, gained)
  if (outcome.kind !== 'done') return outcome
  yield* checkQuota(parts.limits, persona.user_id)
  return outcome
}

function goneMeanwhile(id: string): AppError {
  return new AppError('not_found', `The persona "${id}" was removed or created by another process meanwhile`)
}

/** Whether there are users, and this owner is none of them any more; one that is stays until this transaction has ended. */
function* isOrphan(owner: string): Work<boolean> {
  if (owner === localUser) return false
  if (yield* row(sql`SELECT 1 FROM ${account} WHERE id = ${owner} ${word('', 'FOR KEY SHARE')}`)) return false
  return (yield* row(sql`SELECT 1 FROM ${account} LIMIT 1`)) !== undefined
}

/** Puts a persona in place with its memories and log, all in one. */
export function putWhole(
  parts: PersonaWriteParts,
  write: PersonaWrite,
  conditions: PublishConditions,
  coming: readonly IncomingMemory[],
): Work<Outcome> {
  const scope = scopeOf(write)
  return putInPlace(parts, write, conditions, function* () {
    const before = write.how === 'merge' ? ((yield* findScope(scope))?.memories ?? 0) : 0
    if (write.how === 'replace') yield* parts.hideMemories(scope)
    yield* bringMemories(parts.index, scope, coming)
    yield* addToLog(write)
    return ((yield* findScope(scope))?.memories ?? 0) - before
  })
}

/** Writes the log, or for `merge` the records that are added. */
export function* addToLog(write: PersonaWrite): Work<void> {
  const scope = scopeOf(write)
  const { records, learned } = write.log
  if (write.how !== 'merge') return yield* replaceLog(scope.personaId, records, learned)
  for (const record of records)
    if (!(yield* appendRecord(scope, record, learned)))
      throw new AppError('internal', 'A merged record does not follow the log of its revision')
}

/** Writes memories of a package, with the fields that have no place of their own. */
export function* bringMemories(index: MemoryIndex, scope: Scope, batch: readonly IncomingMemory[]): Work<void> {
  if (batch.length === 0) return
  const keys = [...new Set(batch.flatMap(({ vector }) => (vector ? [vector.space.key] : [])))]
  const spaces =
    keys.length === 0
      ? []
      : yield* rows<{ key: string; dimension: number }>(
          sql`SELECT key, dimension FROM embedding_space WHERE key ${among(keys)}`,
        )
  const known = new Map(spaces.map(({ key, dimension }) => [key, dimension]))
  const fitting = batch.map((memory) => ({
    ...memory,
    ...(memory.vector && { vector: inOwnSpace(memory.vector, known.get(memory.vector.space.key)) }),
  }))
  const { entries } = yield* addMemories(index, scope, fitting, { ...keepAll, now: Date.now() })
  // The last one of a memory counts.
  const carried = new Map(
    batch.flatMap(({ extra }, at) =>
      Object.keys(extra).length > 0 ? [[entries[at]!.id, JSON.stringify(extra)] as const] : [],
    ),
  )
  if (carried.size === 0) return
  yield* run(
    sql`INSERT INTO memory_carried (memory_id, fields)
        SELECT memory_id, c.fields FROM ${tableOf({ id: 'text', fields: 'text' }, [...carried])} AS c
          JOIN memory_scope ON persona_id = ${scope.personaId} AND user_id = ${scope.userId}
          JOIN memory USING (scope_id) WHERE memory.id = c.id
        ON CONFLICT (memory_id) DO UPDATE SET fields = excluded.fields`,
  )
}
