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
  for (const rows of hiddenRows) if (goesOn(db)) await removeRows(db, rows)
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

/** Conversations each have an owner of their own, since their names differ for one owner. */
const isHiddenConversation = `user_id > '${hiddenOwner}/' AND user_id < '${hiddenOwner}/~'`
const ofHiddenConversation = `conversation_id IN (SELECT id FROM conversation WHERE ${isHiddenConversation})`
const ofHiddenThread = `thread_id IN (SELECT thread_id FROM response_thread WHERE user_id = '${hiddenOwner}')`

/** The hidden rows of conversations and responses by their keys, each table before the one that its rows name. */
const hiddenRows = [
  { table: 'conversation_message', key: 'conversation_id, number', where: ofHiddenConversation },
  { table: 'conversation_file', key: 'rowid', where: ofHiddenConversation },
  { table: 'conversation', key: 'rowid', where: isHiddenConversation },
  { table: 'response_item', key: 'rowid', where: `number IN (SELECT number FROM response WHERE ${ofHiddenThread})` },
  { table: 'response', key: 'rowid', where: ofHiddenThread },
  { table: 'response_thread', key: 'rowid', where: `user_id = '${hiddenOwner}'` },
] as const

/** How long a slice of small steps takes: milliseconds. */
const sliceMs = 5

/** Removes rows few at a time: one may have megabytes, and most are small. */
async function removeRows(db: Database, { table, key, where }: (typeof hiddenRows)[number]): Promise<void> {
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT 4)`,
  )
  await inSlices(db, () => {
    const end = performance.now() + sliceMs
    while (remove.run().changes > 0) if (performance.now() > end) return true
    return false
  })
}

/** Runs slices as transactions until nothing is left; none waits for the disk, since a lost one is done again. */
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
