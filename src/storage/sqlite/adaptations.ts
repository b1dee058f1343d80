import type { AdaptationStore } from '../../personas/adaptation/adaptations.ts'
import { type AdaptationRecord, emptyLog, headOf, type LogHead } from '../../personas/adaptation/log.ts'
import { fold } from '../../personas/adaptation/replay.ts'
import { algorithm } from '../../personas/adaptation/rules.ts'
import { type Learned, nothingLearned } from '../../personas/adaptation/state.ts'
import type { Scope } from '../../personas/memory/memory.ts'
import { snapshotBatch } from '../../personas/package/archive.ts'
import { decodeLearned, encodeLearned, recordOf, type StateRow, textOfRecord } from '../shared/adaptation-rows.ts'
import { yieldToEventLoop } from '../shared/event-loop.ts'
import type { Database } from './connection.ts'
import type { Quota } from './quota.ts'

/** Logs of adaptation in SQLite, each with a cache of the state it leads to. */
export function createAdaptationStore(db: Database, quota?: Quota): AdaptationStore {
  const rows = adaptationRows(db)
  return {
    read: async (scope) => db.transaction(() => rows.read(scope))(),
    append: async (scope, record, learned) =>
      db
        .transaction(() => {
          const isDone = rows.append(scope, record, learned)
          if (isDone) quota?.check(scope.userId)
          return isDone
        })
        .immediate(),
    findByKey: async (scope, key) => rows.findByKey(scope, key),
    log: (scope) => rows.logSlowly(scope),
  }
}

const ownLog = 'adaptation JOIN adaptation_log USING (log_id) JOIN persona ON persona.id = persona_id'

/** Each of two personas gets the log of the other one. Expects a transaction. */
export function exchangeLogs(db: Database, one: string, other: string): void {
  db.prepare(
    `UPDATE adaptation_log SET persona_id = CASE persona_id WHEN @one THEN @other ELSE @one END
      WHERE persona_id IN (@one, @other)`,
  ).run({ one, other })
}

/** The same by plain calls, for transactions that span several stores; each expects to run inside one. */
export function adaptationRows(db: Database) {
  const insert = db.prepare(
    `INSERT INTO adaptation (log_id, sequence, id, idempotency_key, record)
       SELECT log_id, ?, ?, ?, ? FROM adaptation_log WHERE persona_id = ?`,
  )
  const begin = db.prepare(
    `INSERT INTO adaptation_log (persona_id)
       SELECT @id WHERE NOT EXISTS (SELECT 1 FROM adaptation_log WHERE persona_id = @id)`,
  )
  // The same statement asks for the persona: no log can be written under another user's name.
  const cache = db.prepare(
    `INSERT INTO persona_state (persona_id, algorithm, sequence, hash, learned)
       SELECT id, ?, ?, ?, ? FROM persona WHERE id = ? AND user_id = ?
       ON CONFLICT (persona_id) DO UPDATE SET algorithm = excluded.algorithm, sequence = excluded.sequence,
         hash = excluded.hash, learned = excluded.learned`,
  )
  const state = db.prepare<[string, string], StateRow>(
    `SELECT algorithm, sequence, hash, learned FROM persona_state JOIN persona ON persona.id = persona_id
      WHERE persona_id = ? AND user_id = ?`,
  )
  const records = db
    .prepare<[string, string], string>(
      `SELECT record FROM ${ownLog}
        WHERE persona_id = ? AND user_id = ? ORDER BY sequence`,
    )
    .pluck()
  const laterRecords = db
    .prepare<[string, string, number], string>(
      `SELECT record FROM ${ownLog}
        WHERE persona_id = ? AND user_id = ? AND sequence > ? ORDER BY sequence`,
    )
    .pluck()
  const byKey = db
    .prepare<[string, string, string], string>(
      `SELECT record FROM ${ownLog}
        WHERE persona_id = ? AND user_id = ? AND idempotency_key = ?`,
    )
    .pluck()

  return { read, append, findByKey, log, logSlowly, pages, write, settle, replace, cached }

  function read(scope: Scope): { readonly learned: Learned; readonly head: LogHead } {
    const row = state.get(scope.personaId, scope.userId)
    if (!row) return { learned: nothingLearned(), head: emptyLog }
    const { sequence, hash } = row
    // Written by other rules: the log is the truth, and gives the state anew.
    const learned = row.algorithm === algorithm ? decodeLearned(row.learned) : fold(log(scope))
    return { learned, head: { sequence, hash } }
  }

  /** The state as it is cached, or undefined where none is. */
  function cached(scope: Scope): Learned | undefined {
    const row = state.get(scope.personaId, scope.userId)
    return row && decodeLearned(row.learned)
  }

  function append(scope: Scope, record: AdaptationRecord, learned: Learned): boolean {
    const { head } = read(scope)
    if (record.sequence !== head.sequence + 1 || record.prev_hash !== head.hash) return false
    if (!save(scope, learned, headOf(record))) return false
    write(scope.personaId, [record])
    return true
  }

  function findByKey(scope: Scope, key: string): AdaptationRecord | undefined {
    const text = byKey.get(scope.personaId, scope.userId, key)
    return text === undefined ? undefined : recordOf(scope, text)
  }

  function log(scope: Scope): readonly AdaptationRecord[] {
    return records.all(scope.personaId, scope.userId).map((text) => recordOf(scope, text))
  }

  /** The same for a log of any length, outside a transaction: others are served in between. */
  async function logSlowly(scope: Scope): Promise<readonly AdaptationRecord[]> {
    const all: AdaptationRecord[] = []
    for (const page of pages(scope)) {
      all.push(...page)
      await yieldToEventLoop()
      if (!db.open) break
    }
    return all
  }

  /** The same in pages within the limits of a snapshot's batch. */
  function* pages(scope: Scope): Generator<readonly AdaptationRecord[]> {
    for (let last = 0; ; ) {
      const page: AdaptationRecord[] = []
      let bytes = 0
      for (const text of laterRecords.iterate(scope.personaId, scope.userId, last)) {
        bytes += Buffer.byteLength(text)
        if (page.length > 0 && bytes > snapshotBatch.bytes) break
        page.push(recordOf(scope, text))
        if (page.length === snapshotBatch.rows) break
      }
      if (page.length === 0) return
      yield page
      last = page.at(-1)!.sequence
    }
  }

  /** Replaces the whole log. */
  function replace(scope: Scope, whole: readonly AdaptationRecord[], learned: Learned): void {
    db.prepare('DELETE FROM adaptation_log WHERE persona_id = ?').run(scope.personaId)
    write(scope.personaId, whole)
    settle(scope, whole.at(-1), learned)
  }

  /** Notes the state at the end of a log; the log's records are there already. */
  function settle(scope: Scope, last: AdaptationRecord | undefined, learned: Learned): void {
    db.prepare('DELETE FROM persona_state WHERE persona_id = ?').run(scope.personaId)
    if (last) save(scope, learned, headOf(last))
  }

  /** Writes records to a persona's log, and no state. */
  function write(personaId: string, added: readonly AdaptationRecord[]): void {
    begin.run({ id: personaId })
    for (const record of added)
      insert.run(record.sequence, record.id, record.idempotency_key ?? null, textOfRecord(record), personaId)
  }

  function save(scope: Scope, learned: Learned, head: LogHead): boolean {
    return (
      cache.run(algorithm, head.sequence, head.hash, encodeLearned(learned), scope.personaId, scope.userId).changes ===
      1
    )
  }
}
