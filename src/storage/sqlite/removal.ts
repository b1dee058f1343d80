import { randomUUID } from 'node:crypto'
import type { Scope } from '../../personas/personas.ts'
import { pauseFor } from '../../process/process.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { firstSlice, slice } from '../shared/memory-retention.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { goesOn, isFailureOfDatabase, releasePages } from './housekeeping.ts'
import { findScope, makeScope } from './memories-scope.ts'

/** All memories of a scope leave; the record of evictions stays. Expects a transaction. Returns how many they are. */
export function hideMemories(db: Database, scope: Scope): number {
  const row = findScope(db, scope)
  if (!row || row.memories === 0) return 0
  const id = randomUUID()
  db.prepare(
    `INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES (?, ?, '', '', '{}', 0, 0)`,
  ).run(id, hiddenOwner)
  db.prepare(`UPDATE memory_scope SET persona_id = ?, user_id = ? || '/' || scope_id WHERE scope_id = ?`).run(
    id,
    hiddenOwner,
    row.scope_id,
  )
  db.prepare('UPDATE memory_eviction SET scope_id = ? WHERE scope_id = ?').run(
    makeScope(db, scope).scope_id,
    row.scope_id,
  )
  return row.memories
}

/**
 * Removes hidden rows, see hidden-owner.ts, of processes that ended too. One call at a time: a second call begins when the first has ended. Where the
 * database cannot be written, such as on a full disk, hidden rows stay hidden, and are removed by the next call.
 */
export function removeHidden(db: Database): Promise<void> {
  const before = clearing.get(db) ?? Promise.resolve()
  const work = before
    .catch(() => undefined)
    .then(() => clear(db))
    .catch((reason) => {
      if (!isFailureOfDatabase(reason)) throw reason
    })
  clearing.set(db, work)
  return work
}

const clearing = new WeakMap<Database, Promise<void>>()

async function clear(db: Database): Promise<void> {
  // A process that ends closes the database under its unfinished work.
  if (!goesOn(db)) return
  const persona = db.prepare<[string], string>('SELECT id FROM persona WHERE user_id = ? LIMIT 1').pluck()
  for (let id = persona.get(hiddenOwner); id !== undefined; id = goesOn(db) ? persona.get(hiddenOwner) : undefined)
    await removePersonaRows(db, id)
  if (goesOn(db)) await removeConversationRows(db)
  if (goesOn(db)) await removeResponseRows(db)
  if (goesOn(db)) await releasePages(db)
}

/** Removes a hidden persona with all its rows, in slices between which the event loop runs. */
export async function removePersonaRows(db: Database, id: string): Promise<void> {
  const unindex = db.prepare('DELETE FROM memory_text WHERE rowid = ?')
  const scopes = db.prepare<[string], number>('SELECT scope_id FROM memory_scope WHERE persona_id = ?').pluck()
  const next = db.prepare<[number, number], { memory_id: number; size: number }>(
    `SELECT memory_id, length(content) AS size FROM memory WHERE memory_id BETWEEN ? AND ?
      ORDER BY memory_id LIMIT ${slice.memories}`,
  )
  // Vectors, terms and passthrough fields go with their memory, by foreign keys.
  const remove = db.prepare('DELETE FROM memory WHERE memory_id BETWEEN ? AND ?')
  for (const scopeId of scopes.all(id)) {
    const { low, high } = rangeOf(scopeId)
    await inSlices(db, () => {
      const going = firstSlice(next.all(low, high)).map(({ memory_id }) => memory_id)
      if (going.length === 0) return false
      for (const number of going) unindex.run(number)
      remove.run(low, going.at(-1)!)
      return true
    })
    if (!goesOn(db)) return
  }
  const forget = db.prepare(
    `DELETE FROM adaptation WHERE (log_id, sequence) IN
       (SELECT log_id, sequence FROM adaptation JOIN adaptation_log USING (log_id) WHERE persona_id = @id LIMIT 50)`,
  )
  await inSlices(db, () => forget.run({ id }).changes > 0)
  if (goesOn(db)) db.prepare('DELETE FROM persona WHERE id = ?').run(id)
}

async function removeConversationRows(db: Database): Promise<void> {
  const conversation = db
    .prepare<[string, string], string>('SELECT id FROM conversation WHERE user_id > ? AND user_id < ? LIMIT 1')
    .pluck()
  const next = db.prepare<[string], { number: number; size: number }>(
    `SELECT number, length(message) AS size FROM conversation_message WHERE conversation_id = ?
      ORDER BY number LIMIT ${slice.memories}`,
  )
  const removeMessages = db.prepare('DELETE FROM conversation_message WHERE conversation_id = ? AND number <= ?')
  const removeFile = db.prepare(
    `DELETE FROM conversation_file WHERE rowid IN
       (SELECT rowid FROM conversation_file WHERE conversation_id = ? LIMIT 1)`,
  )
  const removeRow = db.prepare('DELETE FROM conversation WHERE id = ?')
  await inSlices(db, () => {
    const id = conversation.get(`${hiddenOwner}/`, `${hiddenOwner}/~`)
    if (id === undefined) return false
    const last = firstSlice(next.all(id)).at(-1)
    if (last) removeMessages.run(id, last.number)
    else if (removeFile.run(id).changes === 0) removeRow.run(id)
    return true
  })
}

/** How long a slice of small steps takes: milliseconds. */
const sliceMs = 5

async function removeResponseRows(db: Database): Promise<void> {
  const thread = db.prepare<[string], number>('SELECT thread_id FROM response_thread WHERE user_id = ? LIMIT 1').pluck()
  const response = db.prepare<[number], number>('SELECT number FROM response WHERE thread_id = ? LIMIT 1').pluck()
  const next = db.prepare<[number], { position: number; size: number }>(
    `SELECT position, length(item) AS size FROM response_item WHERE number = ?
      ORDER BY position LIMIT ${slice.memories}`,
  )
  const removeItems = db.prepare('DELETE FROM response_item WHERE number = ? AND position <= ?')
  const removeResponse = db.prepare('DELETE FROM response WHERE number = ?')
  const removeThread = db.prepare('DELETE FROM response_thread WHERE thread_id = ?')
  const step = () => {
    const threadId = thread.get(hiddenOwner)
    if (threadId === undefined) return false
    const number = response.get(threadId)
    const last = number === undefined ? undefined : firstSlice(next.all(number)).at(-1)
    if (number === undefined) removeThread.run(threadId)
    else if (last) removeItems.run(number, last.position)
    else removeResponse.run(number)
    return true
  }
  // Most responses are small: one in a slice, of two thousand, would take half a minute.
  await inSlices(db, () => {
    const end = performance.now() + sliceMs
    while (step()) if (performance.now() > end) return true
    return false
  })
}

/**
 * Runs slices, each in a transaction of its own, until one says that nothing is left. One that the power takes away is
 * done again, so no slice waits for the disk.
 */
async function inSlices(db: Database, work: () => boolean): Promise<void> {
  for (let more = true; more && goesOn(db); ) {
    const begun = performance.now()
    const flushing = db.pragma('synchronous', { simple: true })
    db.pragma('synchronous = NORMAL')
    try {
      more = db.transaction(work).immediate()
    } finally {
      db.pragma(`synchronous = ${flushing}`)
    }
    await pauseFor(performance.now() - begun)
  }
}
