import type { MaybePromise } from '../../accounts/accounts.ts'
import {
  type AdaptationRecord,
  type AdaptationStore,
  algorithm,
  emptyLog,
  fold,
  headOf,
  type Learned,
  type LogEnd,
  nothingLearned,
  type Scope,
  snapshotBatch,
} from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { among, row, rows, run, type StoreDatabase, sql, tableOf, together, type Work } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { pagesOf } from '../shared/persona-slices.ts'
import { lockPersona } from './personas.ts'
import { checkQuota } from './quota.ts'

/** Logs of adaptation, each with a cache of the state it leads to. */
export function createAdaptationStore(db: StoreDatabase, limits?: StoredLimits): AdaptationStore {
  return {
    async read(scope) {
      const found = await db.read(stateRow(scope))
      if (!found || found.algorithm === algorithm) return stateOf(found)
      return db.moment(() => readState(scope))
    },
    append: (scope, record, learned) =>
      db.write(function* () {
        const isDone = yield* appendRecord(scope, record, learned)
        if (isDone) yield* checkQuota(limits, scope.userId)
        return isDone
      }),
    async findByKey(scope, key) {
      const found = await db.read(
        row<{ record: string }>(sql`SELECT record FROM ${ownLog(scope)} AND idempotency_key = ${key}`),
      )
      return found && recordOf(scope, found.record)
    },
    async log(scope) {
      const all: AdaptationRecord[] = []
      for await (const page of logPages(db.read, scope)) all.push(...page)
      return all
    },
  }
}

function ownLog({ personaId, userId }: Scope) {
  return sql`adaptation JOIN adaptation_log USING (log_id) JOIN persona ON persona.id = persona_id
    WHERE persona_id = ${personaId} AND user_id = ${userId}`
}

/** The state and the end of the log; for work that reads as of one moment. */
export function* readState(scope: Scope): Work<LogEnd> {
  const found = yield* stateRow(scope)
  const state = stateOf(found)
  if (!found || found.algorithm === algorithm) return state
  // Written by other rules: the log is the truth, and gives the state again.
  const log = yield* rows<{ record: string }>(sql`SELECT record FROM ${ownLog(scope)} ORDER BY sequence`)
  return { ...state, learned: fold(log.map(({ record }) => recordOf(scope, record))) }
}

function stateOf(found: StateRow | undefined): LogEnd {
  if (!found) return { learned: nothingLearned(), head: emptyLog }
  const { sequence, hash } = found
  return { learned: decodeLearned(found.learned), head: { sequence, hash } }
}

/** The state as it is cached, or undefined where none is. */
export function* cachedState(scope: Scope): Work<Learned | undefined> {
  const found = yield* stateRow(scope)
  return found && decodeLearned(found.learned)
}

function stateRow({ personaId, userId }: Scope): Work<StateRow | undefined> {
  return row(
    sql`SELECT algorithm, sequence, hash, learned FROM persona_state JOIN persona ON persona.id = persona_id
        WHERE persona_id = ${personaId} AND user_id = ${userId}`,
  )
}

/** Adds a record and its state; false where it does not follow the end of the log, or the user has no such persona. */
export function* appendRecord(scope: Scope, record: AdaptationRecord, learned: Learned): Work<boolean> {
  if (!(yield* lockPersona(scope.personaId, scope.userId))) return false
  const { sequence, hash } = (yield* stateRow(scope)) ?? emptyLog
  if (record.sequence !== sequence + 1 || record.prev_hash !== hash) return false
  yield* together(writeState(scope.personaId, record, learned), writeRecords(scope.personaId, [record]))
  return true
}

/** Replaces the whole log, and the state. */
export function* replaceLog(personaId: string, whole: readonly AdaptationRecord[], learned: Learned): Work<void> {
  yield* together(
    run(sql`DELETE FROM adaptation_log WHERE persona_id = ${personaId}`),
    writeRecords(personaId, whole),
    settleState(personaId, whole.at(-1), learned),
  )
}

/** Notes the state at the end of a log; the log's records are there already. */
export function* settleState(personaId: string, last: AdaptationRecord | undefined, learned: Learned): Work<void> {
  yield* run(sql`DELETE FROM persona_state WHERE persona_id = ${personaId}`)
  if (last) yield* writeState(personaId, last, learned)
}

function* writeState(personaId: string, last: AdaptationRecord, learned: Learned): Work<void> {
  const { sequence, hash } = headOf(last)
  yield* run(
    sql`INSERT INTO persona_state (persona_id, algorithm, sequence, hash, learned)
        VALUES (${personaId}, ${algorithm}, ${sequence}, ${hash}, ${encodeLearned(learned)})
        ON CONFLICT (persona_id) DO UPDATE SET algorithm = excluded.algorithm, sequence = excluded.sequence,
          hash = excluded.hash, learned = excluded.learned`,
  )
}

/** Writes records to a persona's log, and no state. */
export function* writeRecords(personaId: string, added: readonly AdaptationRecord[]): Work<void> {
  if (added.length === 0) return
  const records = tableOf(
    { sequence: 'integer', id: 'text', idempotency_key: 'text', record: 'text' },
    added.map((record) => [record.sequence, record.id, record.idempotency_key ?? null, textOfRecord(record)]),
  )
  yield* together(
    run(
      sql`INSERT INTO adaptation_log (persona_id) SELECT ${personaId}
          WHERE NOT EXISTS (SELECT 1 FROM adaptation_log WHERE persona_id = ${personaId})`,
    ),
    run(
      sql`INSERT INTO adaptation (log_id, sequence, id, idempotency_key, record)
          SELECT log_id, r.* FROM adaptation_log CROSS JOIN ${records} AS r WHERE persona_id = ${personaId}`,
    ),
  )
}

/** Each of two personas gets the log of the other one. */
export function* exchangeLogs(one: string, other: string): Work<void> {
  yield* run(
    sql`UPDATE adaptation_log SET persona_id = CASE persona_id WHEN ${one} THEN ${other} ELSE ${one} END
        WHERE persona_id ${among([one, other])}`,
  )
}

/** A persona's log in pages within the limits of a snapshot's batch; others are served between them. */
export async function* logPages(
  read: <R>(work: Work<R>) => MaybePromise<R>,
  scope: Scope,
): AsyncGenerator<readonly AdaptationRecord[]> {
  for (let last = 0; ; ) {
    const found = await read(
      rows<{ sequence: number; record: string }>(
        sql`SELECT sequence, record FROM ${ownLog(scope)} AND sequence > ${last}
            ORDER BY sequence LIMIT ${snapshotBatch.rows}`,
      ),
    )
    if (found.length === 0) return
    for (const page of pagesOf(found, ({ record }) => Buffer.byteLength(record)))
      yield page.map(({ record }) => recordOf(scope, record))
    last = found.at(-1)!.sequence
    await yieldToEventLoop()
  }
}

interface StateRow {
  readonly algorithm: string
  readonly sequence: number
  readonly hash: string
  readonly learned: string
}

/** A record as it is kept: the owner is in the persona's row alone, so that a persona which gets another one keeps its log. */
function textOfRecord(record: AdaptationRecord): string {
  const { persona_id: _persona, user_id: _user, ...content } = record
  return JSON.stringify(content)
}

function recordOf(scope: Scope, text: string): AdaptationRecord {
  return { ...JSON.parse(text), persona_id: scope.personaId, user_id: scope.userId }
}

/** A state as the text that is kept. */
function encodeLearned(learned: Learned): string {
  return JSON.stringify({ ...learned, traits: [...learned.traits], preferences: [...learned.preferences] })
}

/** The state of a kept text. */
function decodeLearned(text: string): Learned {
  const { traits, preferences, ...rest } = JSON.parse(text)
  return { ...rest, traits: new Map(traits), preferences: new Map(preferences) }
}
