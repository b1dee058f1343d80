import { randomUUID } from 'node:crypto'
import type { Outcome, PersonaWrite, Revision, Scope, StagedPersona } from '../../personas/personas.ts'
import { run, sql, together } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { batches } from '../shared/persona-slices.ts'
import { changed, scopeOf } from '../shared/persona-write.ts'
import { exchangeLogs, settleState, writeRecords } from '../stores/adaptations.ts'
import * as scopes from '../stores/memory-scope.ts'
import { addToLog, bringMemories, type PersonaWriteParts, putInPlace } from '../stores/persona-write.ts'
import { revisionOf } from '../stores/personas.ts'
import type { Context } from './context.ts'
import { onPostgres, runOn } from './driver.ts'
import { translating } from './errors.ts'
import { holdTransaction, type Step } from './held.ts'
import { hideScope, removeHidden } from './removal.ts'
import type { Transaction } from './sql.ts'

/** The most that one round of statements writes. */
const slice = { memories: 500, characters: 512 * 1024, components: 1024 * 1024 } as const

/** Records of the log in one statement. */
const recordsAtOnce = 500

/**
 * Writes a large persona in one transaction, under a persona of its own: its locks concern no other writer, and its
 * owner's counters stay free for other writes. The publication then exchanges memories and log, by a few rows.
 */
export async function stageInTransaction(
  context: Context,
  parts: PersonaWriteParts,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
): Promise<StagedPersona> {
  const { db } = context
  const scope = scopeOf(write)
  const stage: Scope = { personaId: randomUUID(), userId: `~arriving/${randomUUID()}` }
  await makeSpaces(context, write, signal)
  const log = write.how === 'merge' ? [] : write.log.records
  // A merge holds copies of the persona's own memories, as they were at this moment.
  let copied: Revision | undefined
  const held = await holdTransaction(
    db,
    async (tx) => {
      await tx.run(
        `INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES ($1, $2, '', '', '{}', 0, 0)`,
        [stage.personaId, stage.userId],
      )
      if (write.how === 'merge') {
        copied = await runOn(tx, revisionOf(scope))
        await copyMemories(tx, scope, stage)
      }
      for (let at = 0; at < log.length; at += recordsAtOnce) {
        await runOn(tx, writeRecords(stage.personaId, log.slice(at, at + recordsAtOnce)))
        signal?.throwIfAborted()
      }
      for (const batch of batches(write.memories(), slice)) {
        await runOn(tx, bringMemories(parts.index, stage, batch))
        signal?.throwIfAborted()
      }
    },
    {},
  )
  let isReplaced = false
  return translating({
    publish: (conditions) =>
      held.use(async (tx) => {
        if (write.how === 'merge' && copied !== conditions.expected) return { isDone: false, value: changed }
        const step = await orTakenBack(tx, () =>
          runOn(
            tx,
            putInPlace(parts, write, conditions, function* () {
              const there = write.how === 'merge' ? ((yield* scopes.findScope(scope))?.memories ?? 0) : 0
              const gained = ((yield* scopes.findScope(stage))?.memories ?? 0) - there
              yield* onPostgres(() => takePlace(tx, stage, scope))
              if (write.how === 'merge') yield* addToLog(write)
              else {
                yield* exchangeLogs(stage.personaId, scope.personaId)
                yield* settleState(scope.personaId, log.at(-1), write.log.learned)
              }
              // The old content is removed with it.
              yield* run(sql`UPDATE persona SET user_id = ${hiddenOwner} WHERE id = ${stage.personaId}`)
              return gained
            }),
          ),
        )
        isReplaced ||= step.isDone
        return step
      }),
    async discard() {
      await held.end()
      if (isReplaced) await removeHidden(db).catch(() => undefined)
    },
  } satisfies StagedPersona)
}

/** Makes the vectors' spaces before, one transaction each: other writers of a new one need not wait. */
async function makeSpaces({ db }: Context, write: PersonaWrite, signal: AbortSignal | undefined): Promise<void> {
  const made = new Set<string>()
  for (const { vector } of write.memories()) {
    signal?.throwIfAborted()
    if (!vector || made.has(vector.space.key)) continue
    made.add(vector.space.key)
    await db.run(
      'INSERT INTO embedding_space (key, model, dimension) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING',
      [vector.space.key, vector.space.model, vector.space.dimension],
    )
  }
}

/** Runs work that is undone where its outcome is not `done`. */
async function orTakenBack(tx: Transaction, work: () => Promise<Outcome>): Promise<Step<Outcome>> {
  await tx.script('SAVEPOINT publication')
  const value = await work()
  const isDone = value.kind === 'done'
  if (!isDone) await tx.script('ROLLBACK TO SAVEPOINT publication')
  return { isDone, value }
}

/** The target gets the memories of the stage, and keeps its record of evictions; its own memories leave. */
async function takePlace(tx: Transaction, stage: Scope, target: Scope): Promise<void> {
  const [coming, going] = await runOn(tx, together(scopes.findScope(stage), scopes.findScope(target)))
  await runOn(tx, hideScope(target))
  if (!coming) return
  await tx.run('UPDATE memory_scope SET persona_id = $1, user_id = $2 WHERE scope_id = $3', [
    target.personaId,
    target.userId,
    coming.scope_id,
  ])
  if (going)
    await tx.run('UPDATE memory_eviction SET scope_id = $1 WHERE scope_id = $2', [coming.scope_id, going.scope_id])
}

/**
 * Copies the memories of a scope into a new one, in the database: their numbers within the scope stay, and with them the index.
 * Rows that are written meanwhile may be missing: the caller compares the scope's revision.
 */
async function copyMemories(tx: Transaction, from: Scope, to: Scope): Promise<void> {
  const source = await runOn(tx, scopes.findScope(from))
  if (!source) return
  const target = await runOn(tx, scopes.makeScope(to))
  const { low, high } = rangeOf(source.scope_id)
  const values = [low, high, rangeOf(target.scope_id).low - low]
  const columns = async (table: string) => {
    const rows = await tx.rows<{ attname: string }>(
      `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [table],
    )
    return rows.map(({ attname }) => attname)
  }
  /** `of` is the table that a row's foreign key names: one that came meanwhile has no copy there. */
  const copy = async (table: string, of?: string) => {
    const names = await columns(table)
    const values_ = names.map((name) =>
      name === 'memory_id' ? 'r.memory_id + $3::bigint' : name === 'scope_id' ? `${target.scope_id}` : `r.${name}`,
    )
    await tx.run(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values_.join(', ')} FROM ${table} r
        WHERE r.memory_id BETWEEN $1 AND $2
        ${of ? `AND EXISTS (SELECT 1 FROM ${of} o WHERE o.memory_id = r.memory_id + $3::bigint)` : ''}`,
      values,
    )
  }
  await copy('memory')
  for (const table of ['memory_terms', 'memory_vector', 'memory_carried']) await copy(table, 'memory')
  await copy('memory_sketch', 'memory_vector')
  await tx.run(
    `INSERT INTO memory_posting (scope_id, term, block, own, around)
       SELECT $2, term, block, own, around FROM memory_posting WHERE scope_id = $1`,
    [source.scope_id, target.scope_id],
  )
  await tx.run(
    `UPDATE memory_scope t SET last_number = s.last_number, memories = s.memories, length = s.length
       FROM memory_scope s WHERE s.scope_id = $1 AND t.scope_id = $2`,
    [source.scope_id, target.scope_id],
  )
}
