import { randomUUID } from 'node:crypto'
import type { Scope } from '../../personas/personas.ts'
import { holder, isHeld, pauseFor } from '../../process/process.ts'
import { exchangeLogs } from '../stores/adaptations.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { releasePages } from './housekeeping.ts'
import { findScope } from './memories-scope.ts'
import { removePersonaRows } from './removal.ts'

/** Those of this process that are in use. */
const inUse = new Set<string>()

/** The beginning of every stage's owner, and of no user's id. */
const mark = '~arriving/'

/**
 * Opens a stage for the persona of this id. The memories of a large persona gather there while it arrives: under a persona
 * without a user, so that no statement of a user finds them; at the end the written persona takes its memories. A process
 * that is killed leaves it behind, and the next one removes it.
 */
export function openStage(db: Database, personaId: string) {
  const scope: Scope = { personaId: randomUUID(), userId: `${mark}${holder()}` }
  inUse.add(scope.personaId)
  db.prepare(
    `INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES (?, ?, ?, '', '{}', ?, ?)`,
  ).run(scope.personaId, scope.userId, personaId, Date.now(), Date.now())
  return {
    scope,
    /** Runs one slice in a transaction of its own, and then leaves the database to others for as long as it took. */
    write: (slice: () => void) => writeSlice(db, slice),
    memories: () => findScope(db, scope)?.memories ?? 0,
    /** Inside a transaction: exchanges the memories of the stage and the persona. */
    takePlaceOf: (target: Scope) => exchange(db, scope, target),
    /** The same for the logs. */
    takeLogOf: (target: Scope) => runOn(db, exchangeLogs(scope.personaId, target.personaId)),
    /** Removes it with its contents. */
    async clear() {
      inUse.delete(scope.personaId)
      await clear(db, scope.personaId)
    },
  }
}

/** Removes the stages of processes that run no more; those that do keep theirs, this one too. */
export async function sweepStages(db: Database): Promise<void> {
  // An aborted task may outlive the storage of its process.
  if (!db.open) return
  const rows = db
    .prepare<[string, string], { id: string; user_id: string }>(
      'SELECT id, user_id FROM persona WHERE user_id >= ? AND user_id < ?',
    )
    .all(mark, `${mark}~`)
  for (const { id, user_id } of rows) {
    const held = user_id.slice(mark.length)
    if (inUse.has(id) || (held !== holder() && isHeld(held))) continue
    await clear(db, id)
  }
}

/**
 * One transaction, and then a rest as long as it took, in which others may write. The checkpoint, which keeps no writer
 * waiting, is done in the rest and counts as part of it.
 *
 * A slice that is lost with the power is never missed: only the transaction that puts the whole in its place must be on
 * the disk when it is acknowledged, and flushing it flushes all earlier ones.
 */
async function writeSlice(db: Database, slice: () => void): Promise<void> {
  const [flushing, checkpoint] = ['synchronous', 'wal_autocheckpoint'].map((name) => db.pragma(name, { simple: true }))
  db.pragma('synchronous = NORMAL')
  db.pragma('wal_autocheckpoint = 0')
  const begun = performance.now()
  let ended: number
  try {
    db.transaction(slice).immediate()
    ended = performance.now()
    const [{ log }] = db.pragma('wal_checkpoint(NOOP)') as [{ readonly log: number }]
    if (log >= pagesInLog) db.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    db.pragma(`synchronous = ${flushing}`)
    db.pragma(`wal_autocheckpoint = ${checkpoint}`)
  }
  await pauseFor(Math.max(0, ended - begun - (performance.now() - ended)))
}

/** The write-ahead log may grow to so many pages of 8 KiB before it is moved into the database, which waits for the disk. */
const pagesInLog = 256

function exchange(db: Database, stage: Scope, target: Scope): void {
  const [coming, going] = [findScope(db, stage), findScope(db, target)]
  const give = db.prepare('UPDATE memory_scope SET persona_id = ?, user_id = ? WHERE scope_id = ?')
  // Under a name that is neither's for a moment, since a persona has one scope per user.
  if (going) give.run(stage.personaId, `${stage.userId}/gone`, going.scope_id)
  if (coming) give.run(target.personaId, target.userId, coming.scope_id)
  if (coming && going)
    db.prepare('UPDATE memory_eviction SET scope_id = ? WHERE scope_id = ?').run(coming.scope_id, going.scope_id)
}

async function clear(db: Database, personaId: string): Promise<void> {
  // A process that ends closes the database under its unfinished work; the next one sweeps.
  if (!db.open) return
  await removePersonaRows(db, personaId)
  if (db.open) await releasePages(db)
}
