import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Scope } from '../../personas/memory/memory.ts'
import type {
  IncomingMemory,
  Outcome,
  PersonaWrite,
  PublishConditions,
  StagedPersona,
} from '../../personas/package/archive.ts'
import { yieldToEventLoop } from '../shared/event-loop.ts'
import { digestOf } from '../shared/memory-rows.ts'
import { batches } from '../shared/persona-slices.ts'
import { changed, inOwnSpace, isLarge, keepAll, outcomeOf, scopeOf, TakenBack } from '../shared/persona-write.ts'
import { appendRecord, replaceLog, settleState, writeRecords } from '../stores/adaptations.ts'
import { insertBackup } from '../stores/backups.ts'
import { localUser } from '../stores/ownership.ts'
import { extentOf, findPersona, revisionOf, savePersona } from '../stores/personas.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { translating } from './errors.ts'
import { emptyWriteAheadLog } from './housekeeping.ts'
import { findScope } from './memories-scope.ts'
import { createMemoryWriter, createUnindexedWriter, type MemoryWriter } from './memories-write.ts'
import { memoryPages } from './persona-snapshot.ts'
import { openStage, type Stage, sweepStages } from './persona-stage.ts'
import { createStageIndex } from './persona-stage-index.ts'
import { createStageMemories } from './persona-stage-memories.ts'
import type { Quota } from './quota.ts'
import { hideMemories, removeHidden } from './removal.ts'
import { sealAnew } from './seals.ts'

/** Prepares a whole persona that is imported, see PersonaArchive. Without a quota its owner may have any number of memories. */
export async function stagePersona(
  db: Database,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
  quota: Quota | undefined,
): Promise<StagedPersona> {
  const isMany = isLarge(write, runOn(db, extentOf(scopeOf(write))))
  if (isMany) refuseCrowded(db, write)
  if (write.how === 'create') quota?.check(write.persona.user_id, { memories: write.count })
  signal?.throwIfAborted()
  return isMany ? stageInSlices(db, write, signal, quota) : stageAtOnce(db, write, quota)
}

/** Counts the new memories of a large write; publishes a small one, and takes it back. */
export async function dryRun(
  db: Database,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
  quota: Quota | undefined,
): Promise<Outcome> {
  if (isLarge(write, runOn(db, extentOf(scopeOf(write))))) return countNew(db, write, signal)
  const expected = runOn(db, revisionOf(scopeOf(write)))
  return publishAtOnce(db, write, [...batches(write.memories())], { ...(expected && { expected }) }, quota, true)
}

/** Writes the memories in slices, which the publication then puts in their place. */
async function stageInSlices(
  db: Database,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
  quota: Quota | undefined,
): Promise<StagedPersona> {
  const scope = scopeOf(write)
  await sweepStages(db)
  const stage = openStage(db, write.persona.id)
  // The rest of a stage is swept later.
  const discard = () => stage.clear().catch(() => undefined)
  // A merge holds copies of the persona's own memories, as they were at this moment.
  const copied = write.how === 'merge' ? runOn(db, revisionOf(scope)) : undefined
  const log = write.how === 'merge' ? [] : write.log.records
  try {
    const rows = createUnindexedWriter(db)
    for (let at = 0; at < log.length; at += recordsAtOnce) {
      const records = log.slice(at, at + recordsAtOnce)
      await stage.write(() => runOn(db, writeRecords(stage.scope.personaId, records)))
      signal?.throwIfAborted()
    }
    const memories = createStageMemories(db, stage.scope)
    const coming = batches(staged(db, write))
    await inSteps(
      stage,
      () => {
        const { value, done } = coming.next()
        return done ? undefined : memories.prepare(value)
      },
      (ready) => {
        // A row that is there already is renewed, one by one.
        if (!memories.write(ready)) addMemories(db, rows, stage.scope, ready.batch)
      },
      signal,
    )
    const index = createStageIndex(db, stage.scope)
    await inSteps(stage, index.prepare, index.write, signal)
    // The staged memories then take their room on the disk once while a backup is written.
    emptyWriteAheadLog(db)
  } catch (reason) {
    await discard()
    throw reason
  }
  const publish = (conditions: PublishConditions) =>
    inOneWrite(db, () => {
      if (write.how === 'merge' && copied !== conditions.expected) return changed
      const gained = stage.memories() - (write.how === 'merge' ? (findScope(db, scope)?.memories ?? 0) : 0)
      return putInPlace(db, write, conditions, quota, () => {
        stage.takePlaceOf(scope)
        if (write.how === 'merge') addToLog(db, write)
        else {
          stage.takeLogOf(scope)
          runOn(db, settleState(scope.personaId, log.at(-1), write.log.learned))
        }
        return gained
      })
    })
  return translating({ publish: async (conditions) => publish(conditions), discard })
}

/** Steps that are prepared beside the database before they are written. */
const stepsAhead = 8

/** Writes what `prepare` makes, as long as it makes something, and prepares the next steps while others may write. */
async function inSteps<T>(
  stage: Stage,
  prepare: () => T | undefined,
  write: (ready: T) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ready: T[] = []
  const fill = () => {
    while (ready.length < stepsAhead) {
      const next = prepare()
      if (next === undefined) return
      ready.push(next)
    }
  }
  const step = () => {
    write(ready.shift()!)
    return ready.length > 0
  }
  for (fill(); ready.length > 0; signal?.throwIfAborted()) await stage.writeSteps(step, fill)
}

/** Records of the log in one slice: some milliseconds' work. */
const recordsAtOnce = 50

/** A full disk could not even be freed again: removing takes room, too. */
function refuseCrowded(db: Database, { weight }: PersonaWrite): void {
  const { bavail, bsize } = statfsSync(dirname(db.name))
  if (bavail * bsize < weight) throw new AppError('io', 'There is not enough room on the disk for it')
}

/** The memories for the stage: for `merge` the present ones, then the new ones, as if stored later. */
function* staged(db: Database, write: PersonaWrite): Generator<IncomingMemory> {
  if (write.how === 'merge')
    for (const page of memoryPages(db, scopeOf(write)))
      for (const { entry, extra, stored_at } of page) yield { ...entry, stored_at, extra }
  yield* write.memories()
}

/** How many memories would be new: the same thing said twice is one. */
async function countNew(db: Database, write: PersonaWrite, signal: AbortSignal | undefined): Promise<Outcome> {
  const row = write.how === 'merge' ? findScope(db, scopeOf(write)) : undefined
  const digests = db.prepare<[number], string>('SELECT hex(digest) FROM memory WHERE scope_id = ?').pluck()
  const known = new Set(row ? digests.all(row.scope_id) : [])
  const before = known.size
  for (const batch of batches(write.memories())) {
    for (const memory of batch) known.add(digestOf(memory).toString('hex').toUpperCase())
    await yieldToEventLoop()
    signal?.throwIfAborted()
  }
  return outcomeOf(write, known.size, known.size - before)
}

/** Reads the memories before the transaction: behind the last one the package is looked through once more, which may take long. */
function stageAtOnce(db: Database, write: PersonaWrite, quota: Quota | undefined): StagedPersona {
  const coming = [...batches(write.memories())]
  let isReplaced = false
  return translating({
    async publish(conditions) {
      const outcome = publishAtOnce(db, write, coming, conditions, quota, false)
      isReplaced ||= write.how === 'replace' && outcome.kind === 'done'
      return outcome
    },
    async discard() {
      // The replaced rows leave the disk, or do so when rows are removed next.
      if (isReplaced) await removeHidden(db).catch(() => undefined)
    },
  } satisfies StagedPersona)
}

function publishAtOnce(
  db: Database,
  write: PersonaWrite,
  coming: readonly (readonly IncomingMemory[])[],
  conditions: PublishConditions,
  quota: Quota | undefined,
  isDryRun: boolean,
): Outcome {
  const scope = scopeOf(write)
  return inOneWrite(db, () => {
    const before = write.how === 'merge' ? (findScope(db, scope)?.memories ?? 0) : 0
    const outcome = putInPlace(db, write, conditions, quota, () => {
      const memories = createMemoryWriter(db)
      if (write.how === 'replace') hideMemories(db, scope)
      for (const batch of coming) addMemories(db, memories, scope, batch)
      addToLog(db, write)
      return (findScope(db, scope)?.memories ?? 0) - before
    })
    if (isDryRun) throw new TakenBack(outcome)
    return outcome
  })
}

/**
 * All of a write but its memories and log, which `bring` puts under the persona; it returns how many memories are new.
 * Expects to run in `inOneWrite`.
 */
function putInPlace(
  db: Database,
  write: PersonaWrite,
  { expected, backup }: PublishConditions,
  quota: Quota | undefined,
  bring: () => number,
): Outcome {
  const { persona, how } = write
  const scope = scopeOf(write)
  const there = runOn(db, findPersona(persona.id))
  if (how === 'create' ? there !== undefined : there?.user_id !== persona.user_id)
    throw new AppError('not_found', `The persona "${persona.id}" was removed or created by another process meanwhile`)
  if (isOrphan(db, persona.user_id)) throw new AppError('not_found', 'The user was removed meanwhile')
  if (how !== 'create' && runOn(db, revisionOf(scope)) !== expected) return changed
  if (backup) runOn(db, insertBackup(backup))
  runOn(db, savePersona(persona))
  const gained = bring()
  if (how !== 'merge')
    db.prepare('INSERT OR REPLACE INTO persona_carried (persona_id, fields) VALUES (?, ?)').run(
      persona.id,
      JSON.stringify(write.passthrough),
    )
  const outcome = outcomeOf(write, findScope(db, scope)?.memories ?? 0, gained)
  if (outcome.kind !== 'done') throw new TakenBack(outcome)
  if (how === 'replace') sealAnew(db, persona.id)
  quota?.check(persona.user_id)
  return outcome
}

/** Whether there are users, and this owner is none of them any more. */
function isOrphan(db: Database, owner: string): boolean {
  if (owner === localUser) return false
  const gone = db.prepare<[string], 0 | 1>(
    'SELECT EXISTS (SELECT 1 FROM user) AND NOT EXISTS (SELECT 1 FROM user WHERE id = ?)',
  )
  return gone.pluck().get(owner) === 1
}

/** Writes the log, or for `merge` the records that are added. */
function addToLog(db: Database, write: PersonaWrite): void {
  const scope = scopeOf(write)
  const { records, learned } = write.log
  if (write.how !== 'merge') runOn(db, replaceLog(scope.personaId, records, learned))
  else
    for (const record of records)
      if (!runOn(db, appendRecord(scope, record, learned)))
        throw new AppError('internal', 'A merged record does not follow the log of its revision')
}

function addMemories(db: Database, memories: MemoryWriter, scope: Scope, batch: readonly IncomingMemory[]): void {
  const dimension = db.prepare<[string], number>('SELECT dimension FROM embedding_space WHERE key = ?').pluck()
  const fitting = batch.map((memory) => ({
    ...memory,
    ...(memory.vector && { vector: inOwnSpace(memory.vector, dimension.get(memory.vector.space.key)) }),
  }))
  const { entries } = memories.add(scope, fitting, { ...keepAll, now: Date.now() })
  const carry = db.prepare(
    `INSERT OR REPLACE INTO memory_carried (memory_id, fields)
       SELECT memory_id, ? FROM memory JOIN memory_scope USING (scope_id) WHERE persona_id = ? AND user_id = ? AND id = ?`,
  )
  for (const [index, { extra }] of batch.entries())
    if (Object.keys(extra).length > 0)
      carry.run(JSON.stringify(extra), scope.personaId, scope.userId, entries[index]!.id)
}

/** One transaction; one that is taken back has the outcome that it says. */
function inOneWrite(db: Database, work: () => Outcome): Outcome {
  try {
    return db.transaction(work).immediate()
  } catch (reason) {
    if (reason instanceof TakenBack) return reason.outcome
    throw reason
  }
}
