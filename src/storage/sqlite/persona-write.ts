import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../errors.ts'
import { emptyLog } from '../../personas/adaptation/log.ts'
import { nothingLearned } from '../../personas/adaptation/state.ts'
import type { RetentionPolicy, Scope, Vector } from '../../personas/memory/memory.ts'
import type { IncomingMemory, PersonaWrite } from '../../personas/package/archive.ts'
import { adaptationRows } from './adaptations.ts'
import { insertBackup } from './backups.ts'
import type { Database } from './connection.ts'
import { emptyWriteAheadLog, yieldToEventLoop } from './housekeeping.ts'
import { digestOf } from './memories-rows.ts'
import { findScope } from './memories-scope.ts'
import { createMemoryWriter, type MemoryWriter } from './memories-write.ts'
import { localUser } from './ownership.ts'
import { extentOf, fingerprintOf, readPersona } from './persona-read.ts'
import { batches } from './persona-slices.ts'
import { openStage, sweepStages } from './persona-stage.ts'
import { personaRows } from './personas.ts'
import type { Quota } from './quota.ts'
import { hideMemories, removeHidden } from './removal.ts'
import { sealAnew } from './seals.ts'

/** Writes a whole persona that is imported, see PersonaArchive. Without a quota its owner may have any number of memories. */
export async function writePersona(
  db: Database,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
  quota: Quota | undefined,
): Promise<{ readonly memories: number }> {
  const isMany = isLarge(db, write)
  if (isMany && write.dryRun) return { memories: await countNew(db, write, signal) }
  if (isMany) refuseCrowded(db, write)
  if (write.how === 'create') quota?.check(write.persona.user_id, { memories: write.count })
  // The persona may be changed meanwhile.
  for (let tried = 1; tried <= mostTries; tried++) {
    signal?.throwIfAborted()
    try {
      return {
        memories: isMany ? await writeStaged(db, write, signal, quota) : await writeAtOnce(db, write, quota),
      }
    } catch (reason) {
      if (reason !== changedMeanwhile) throw reason
    }
  }
  throw new AppError('busy', 'The persona is changed all the time: try again when nothing else is', { retryAfter: 5 })
}

/** How often a write is tried while others change the persona. */
const mostTries = 3

/** Thrown to end a transaction that was prepared for a persona as it was before. */
const changedMeanwhile = new Error('changed meanwhile')

/** Writes the memories in slices, and then puts them in their place. Returns the number of memories that were new. */
async function writeStaged(
  db: Database,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
  quota: Quota | undefined,
): Promise<number> {
  const scope = scopeOf(write)
  await sweepStages(db)
  const stage = openStage(db, write.persona.id)
  try {
    const before = write.how === 'merge' ? fingerprintOf(db, scope) : undefined
    const rows = createMemoryWriter(db)
    const log = write.how === 'merge' ? undefined : write.log(emptyLog, nothingLearned())
    for (let at = 0; log && at < log.records.length; at += recordsAtOnce) {
      const records = log.records.slice(at, at + recordsAtOnce)
      await stage.write(() => adaptationRows(db).write(stage.scope.personaId, records))
      signal?.throwIfAborted()
    }
    for (const batch of batches(staged(db, write))) {
      await stage.write(() => addMemories(db, rows, stage.scope, batch))
      signal?.throwIfAborted()
    }
    // The staged memories then take their room on the disk once while the backup is written.
    emptyWriteAheadLog(db)
    await write.backup?.prepare()
    signal?.throwIfAborted()
    return inOneWrite(db, () => {
      if (before !== undefined && fingerprintOf(db, scope) !== before) throw changedMeanwhile
      const gained = stage.memories() - (write.how === 'merge' ? (findScope(db, scope)?.memories ?? 0) : 0)
      putInPlace(db, write, quota, () => {
        stage.takePlaceOf(scope)
        if (!log) return addToLog(db, write)
        stage.takeLogOf(scope)
        adaptationRows(db).settle(scope, log.records.at(-1), log.learned)
      })
      return gained
    })
  } finally {
    // The rest is swept later; the write itself is done.
    await stage.clear().catch(() => undefined)
  }
}

/** As many memories, and records of the log, are written in one transaction; more are written in slices. */
const mostAtOnce = 50

/** Records of the log in one slice: some milliseconds' work. */
const recordsAtOnce = 50

function isLarge(db: Database, write: PersonaWrite): boolean {
  if (write.count > mostAtOnce) return true
  if (write.how === 'merge') return false
  if (write.log(emptyLog, nothingLearned()).records.length > mostAtOnce) return true
  const { memories, records } = extentOf(db, scopeOf(write))
  return memories > mostAtOnce || records > mostAtOnce
}

/** A full disk could not even be freed again: removing takes room, too. */
function refuseCrowded(db: Database, { weight }: PersonaWrite): void {
  const { bavail, bsize } = statfsSync(dirname(db.name))
  if (bavail * bsize < weight) throw new AppError('io', 'There is not enough room on the disk for it')
}

/** The memories for the stage: for `merge` the present ones, then the new ones, as if stored later. */
function* staged(db: Database, write: PersonaWrite): Generator<IncomingMemory> {
  const own = write.how === 'merge' ? readPersona(db, scopeOf(write)) : undefined
  for (const { entry, extra, stored_at } of own?.memories() ?? []) yield { ...entry, stored_at, extra }
  yield* write.memories()
}

/** How many memories would be new: the same thing said twice is one. */
async function countNew(db: Database, write: PersonaWrite, signal: AbortSignal | undefined): Promise<number> {
  const row = write.how === 'merge' ? findScope(db, scopeOf(write)) : undefined
  const digests = db.prepare<[number], string>('SELECT hex(digest) FROM memory WHERE scope_id = ?').pluck()
  const known = new Set(row ? digests.all(row.scope_id) : [])
  const before = known.size
  for (const batch of batches(write.memories())) {
    for (const memory of batch) known.add(digestOf(memory).toString('hex').toUpperCase())
    await yieldToEventLoop()
    signal?.throwIfAborted()
  }
  write.admit?.(known.size)
  return known.size - before
}

/** In one transaction. Returns the number of memories that were new. */
async function writeAtOnce(db: Database, write: PersonaWrite, quota: Quota | undefined): Promise<number> {
  const scope = scopeOf(write)
  await write.backup?.prepare()
  // Read before the transaction: behind the last memory the package is looked through once more, which may take long.
  const coming = [...batches(write.memories())]
  let gained = 0
  try {
    inOneWrite(db, () => {
      const before = write.how === 'merge' ? (findScope(db, scope)?.memories ?? 0) : 0
      putInPlace(db, write, quota, () => {
        const memories = createMemoryWriter(db)
        if (write.how === 'replace') hideMemories(db, scope)
        for (const batch of coming) addMemories(db, memories, scope, batch)
        addToLog(db, write)
      })
      gained = (findScope(db, scope)?.memories ?? 0) - before
      if (write.dryRun) throw takenBack
    })
  } catch (reason) {
    if (reason !== takenBack) throw reason
  }
  // The replaced rows leave the disk.
  if (write.how === 'replace' && !write.dryRun) await removeHidden(db)
  return gained
}

/** Thrown to end a transaction without a trace. */
const takenBack = new Error('taken back')

/** An import brings its memories whole: how many are too many is decided when the next one is stored. */
const keepAll: Omit<RetentionPolicy, 'now'> = {
  maxMemories: Number.MAX_SAFE_INTEGER,
  maxAge: Number.MAX_SAFE_INTEGER,
  cleanup: false,
}

/** All of an write but its memories and log, which `bring` puts under the persona. Expects to run inside a transaction. */
function putInPlace(db: Database, write: PersonaWrite, quota: Quota | undefined, bring: () => void): void {
  const { persona, how } = write
  const scope = scopeOf(write)
  const personas = personaRows(db)
  const there = personas.find(persona.id)
  if (how === 'create' ? there !== undefined : there?.user_id !== persona.user_id)
    throw new AppError('not_found', `The persona "${persona.id}" was removed or made by somebody else meanwhile`)
  if (isOrphan(db, persona.user_id)) throw new AppError('not_found', 'The user was removed meanwhile')
  const replaced = write.backup && readPersona(db, scope)
  const backup = replaced && write.backup!.take(replaced)
  if (replaced && !backup) throw changedMeanwhile
  if (backup) insertBackup(db, backup)
  personas.save(persona)
  bring()
  if (how !== 'merge')
    db.prepare('INSERT OR REPLACE INTO persona_carried (persona_id, fields) VALUES (?, ?)').run(
      persona.id,
      JSON.stringify(write.passthrough),
    )
  write.admit?.(findScope(db, scope)?.memories ?? 0)
  if (how === 'replace') sealAnew(db, persona.id)
  quota?.check(persona.user_id)
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
  const adaptations = adaptationRows(db)
  const { head, learned } = adaptations.read(scope)
  const made = write.log(head, learned)
  if (write.how !== 'merge') adaptations.replace(scope, made.records, made.learned)
  else for (const record of made.records) adaptations.append(scope, record, made.learned)
}

function addMemories(db: Database, memories: MemoryWriter, scope: Scope, batch: readonly IncomingMemory[]): void {
  const fitting = batch.map((memory) => ({
    ...memory,
    ...(memory.vector && { vector: inOwnSpace(db, memory.vector) }),
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

/** A package may claim any space; vectors of two lengths in one space would break every search in it. */
function inOwnSpace(db: Database, vector: Vector): Vector {
  const known = db
    .prepare<[string], number>('SELECT dimension FROM embedding_space WHERE key = ?')
    .pluck()
    .get(vector.space.key)
  if (known === undefined || known === vector.values.length) return vector
  const { key, model } = vector.space
  return { ...vector, space: { key: `${key}#${vector.values.length}`, model, dimension: vector.values.length } }
}

function scopeOf({ persona }: PersonaWrite): Scope {
  return { personaId: persona.id, userId: persona.user_id }
}

function inOneWrite<T>(db: Database, work: () => T): T {
  return db.transaction(work).immediate()
}
