import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../errors.ts'
import type {
  ArchivedMemory,
  IncomingMemory,
  Outcome,
  PersonaArchive,
  PersonaWrite,
  PublishConditions,
  Scope,
  StagedPersona,
} from '../../personas/personas.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { run, type StoreDatabase, sql } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { batches } from '../shared/persona-slices.ts'
import { changed, scopeOf, TakenBack } from '../shared/persona-write.ts'
import { settleState, writeRecords } from '../stores/adaptations.ts'
import { createPersonaArchive as createArchive } from '../stores/persona-archive.ts'
import { archivedMemory, readMemories } from '../stores/persona-snapshot.ts'
import { addToLog, bringMemories, type PersonaWriteParts, putInPlace } from '../stores/persona-write.ts'
import { revisionOf } from '../stores/personas.ts'
import type { Database } from './connection.ts'
import { onSqlite, runOn } from './driver.ts'
import { translating } from './errors.ts'
import { emptyWriteAheadLog } from './housekeeping.ts'
import { findScope } from './memories-scope.ts'
import { createMemoryIndex } from './memory-index.ts'
import { openSnapshot } from './persona-snapshot.ts'
import { openStage, sweepStages } from './persona-stage.ts'
import { hideMemories, removeHidden } from './removal.ts'

/** Whole personas in SQLite; the connections of open snapshots are in `readers`. */
export function createPersonaArchive(
  db: Database,
  driver: StoreDatabase,
  readers: Set<Database>,
  limits?: StoredLimits,
): PersonaArchive {
  const write: PersonaWriteParts = {
    index: createMemoryIndex(db),
    limits,
    hideMemories: (scope) => onSqlite(() => hideMemories(db, scope)),
    carry: (personaId, fields) =>
      run(
        sql`INSERT OR REPLACE INTO persona_carried (persona_id, fields) VALUES (${personaId}, ${JSON.stringify(fields)})`,
      ),
  }
  return createArchive(driver, {
    limits,
    parts: () => write,
    snapshot: (scope) => openSnapshot(db.name, scope, readers),
    stage: (whole, signal) => stageInSlices(db, write, whole, signal),
    removeHidden: () => removeHidden(db),
    sweep: () => sweepStages(db),
    translating,
  })
}

/** Writes the memories in slices, which the publication then puts in their place. */
async function stageInSlices(
  db: Database,
  parts: PersonaWriteParts,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
): Promise<StagedPersona> {
  refuseCrowded(db, write)
  const scope = scopeOf(write)
  await sweepStages(db)
  const stage = openStage(db, write.persona.id)
  // The rest of a stage is swept later.
  const discard = () => stage.clear().catch(() => undefined)
  // A merge holds copies of the persona's own memories, as they were at this moment.
  const copied = write.how === 'merge' ? runOn(db, revisionOf(scope)) : undefined
  const log = write.how === 'merge' ? [] : write.log.records
  try {
    for (let at = 0; at < log.length; at += recordsAtOnce) {
      const records = log.slice(at, at + recordsAtOnce)
      await stage.write(() => runOn(db, writeRecords(stage.scope.personaId, records)))
      signal?.throwIfAborted()
    }
    for (const batch of batches(staged(db, parts.index, write))) {
      await stage.write(() => runOn(db, bringMemories(parts.index, stage.scope, batch)))
      signal?.throwIfAborted()
    }
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
      const outcome = runOn(
        db,
        putInPlace(parts, write, conditions, function* () {
          yield* onSqlite(() => stage.takePlaceOf(scope))
          if (write.how === 'merge') yield* addToLog(write)
          else {
            yield* onSqlite(() => stage.takeLogOf(scope))
            yield* settleState(scope.personaId, log.at(-1), write.log.learned)
          }
          return gained
        }),
      )
      if (outcome.kind !== 'done') throw new TakenBack(outcome)
      return outcome
    })
  return translating({ publish: async (conditions) => publish(conditions), discard })
}

/** Records of the log in one slice: some milliseconds' work. */
const recordsAtOnce = 50

/** A full disk could not even be freed again: removing takes room, too. */
function refuseCrowded(db: Database, { weight }: PersonaWrite): void {
  const { bavail, bsize } = statfsSync(dirname(db.name))
  if (bavail * bsize < weight) throw new AppError('io', 'There is not enough room on the disk for it')
}

/** The memories for the stage: for `merge` the present ones, then the new ones, as if stored later. */
function* staged(db: Database, index: MemoryIndex, write: PersonaWrite): Generator<IncomingMemory> {
  if (write.how === 'merge')
    for (const { entry, extra, stored_at } of ownMemories(db, index, scopeOf(write)))
      yield { ...entry, stored_at, extra }
  yield* write.memories()
}

/** The memories that a persona has. */
function* ownMemories(db: Database, index: MemoryIndex, scope: Scope): Generator<ArchivedMemory> {
  const found = findScope(db, scope)
  if (!found) return
  const { low, high } = rangeOf(found.scope_id)
  for (let next = low; ; ) {
    const batch = runOn(db, readMemories(index, next, high))
    if (batch.length === 0) return
    for (const each of batch) yield archivedMemory(index, scope, each)
    next = batch.at(-1)!.memory_id + 1
  }
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
