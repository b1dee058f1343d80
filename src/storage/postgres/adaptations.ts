import type { AdaptationStore } from '../../personas/adaptation/adaptations.ts'
import { type AdaptationRecord, emptyLog, headOf, type LogHead } from '../../personas/adaptation/log.ts'
import { fold } from '../../personas/adaptation/replay.ts'
import { algorithm } from '../../personas/adaptation/rules.ts'
import { type Learned, nothingLearned } from '../../personas/adaptation/state.ts'
import type { Scope } from '../../personas/memory/memory.ts'
import { type LogEnd, snapshotBatch } from '../../personas/package/archive.ts'
import { decodeLearned, encodeLearned, recordOf, type StateRow, textOfRecord } from '../shared/adaptation-rows.ts'
import type { Context } from './context.ts'
import { lockPersona } from './personas.ts'
import { checkQuota } from './quota.ts'
import type { Sql, Transaction } from './sql.ts'

/** Logs of adaptation in PostgreSQL, each with a cache of the state it leads to. */
export function createAdaptationStore({ db, limits }: Context): AdaptationStore {
  return {
    async read(scope) {
      const row = await stateRow(db, scope)
      if (!row || row.algorithm === algorithm) return stateOf(row)
      return db.transaction((tx) => readState(tx, scope), { level: 'repeatable read', readOnly: true })
    },
    append: (scope, record, learned) =>
      db.transaction(async (tx) => {
        const isDone = await appendRecord(tx, scope, record, learned)
        if (isDone) await checkQuota(tx, limits, scope.userId)
        return isDone
      }),
    async findByKey(scope, key) {
      const row = await db.row<{ record: string }>(
        `SELECT record FROM ${ownLog} WHERE persona_id = $1 AND user_id = $2 AND idempotency_key = $3`,
        [scope.personaId, scope.userId, key],
      )
      return row && recordOf(scope, row.record)
    },
    log: (scope) => readLog(db, scope),
  }
}

const ownLog = 'adaptation JOIN adaptation_log USING (log_id) JOIN persona ON persona.id = persona_id'

/** The state and the end of the log. Expects a transaction that reads one moment. */
export async function readState(tx: Transaction, scope: Scope): Promise<LogEnd> {
  const row = await stateRow(tx, scope)
  const state = stateOf(row)
  // Written by other rules: the log is the truth, and gives the state anew.
  return !row || row.algorithm === algorithm ? state : { ...state, learned: fold(await readLog(tx, scope)) }
}

function stateOf(row: StateRow | undefined): LogEnd {
  if (!row) return { learned: nothingLearned(), head: emptyLog }
  const { sequence, hash } = row
  return { learned: decodeLearned(row.learned), head: { sequence, hash } }
}

/** The state as it is cached, or undefined where none is. */
export async function cachedState(sql: Sql, scope: Scope): Promise<Learned | undefined> {
  const row = await stateRow(sql, scope)
  return row && decodeLearned(row.learned)
}

function stateRow(sql: Sql, { personaId, userId }: Scope): Promise<StateRow | undefined> {
  return sql.row<StateRow>(
    `SELECT algorithm, sequence, hash, learned FROM persona_state JOIN persona ON persona.id = persona_id
      WHERE persona_id = $1 AND user_id = $2`,
    [personaId, userId],
  )
}

/** Adds a record and its state; false where it does not follow the end of the log, or the user has no such persona. */
export async function appendRecord(
  tx: Transaction,
  scope: Scope,
  record: AdaptationRecord,
  learned: Learned,
): Promise<boolean> {
  if (!(await lockPersona(tx, scope.personaId, scope.userId))) return false
  const head: LogHead = (await stateRow(tx, scope)) ?? emptyLog
  if (record.sequence !== head.sequence + 1 || record.prev_hash !== head.hash) return false
  await Promise.all([writeState(tx, scope.personaId, record, learned), writeRecords(tx, scope.personaId, [record])])
  return true
}

/** Replaces the whole log, and the state. */
export async function replaceLog(
  tx: Transaction,
  personaId: string,
  whole: readonly AdaptationRecord[],
  learned: Learned,
): Promise<void> {
  await tx.run('DELETE FROM adaptation_log WHERE persona_id = $1', [personaId])
  await writeRecords(tx, personaId, whole)
  await settleState(tx, personaId, whole.at(-1), learned)
}

/** Notes the state at the end of a log; the log's records are there already. */
export async function settleState(
  tx: Transaction,
  personaId: string,
  last: AdaptationRecord | undefined,
  learned: Learned,
): Promise<void> {
  await tx.run('DELETE FROM persona_state WHERE persona_id = $1', [personaId])
  if (last) await writeState(tx, personaId, last, learned)
}

async function writeState(tx: Transaction, personaId: string, last: AdaptationRecord, learned: Learned): Promise<void> {
  const { sequence, hash } = headOf(last)
  await tx.run(
    `INSERT INTO persona_state (persona_id, algorithm, sequence, hash, learned) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (persona_id) DO UPDATE SET algorithm = excluded.algorithm, sequence = excluded.sequence,
         hash = excluded.hash, learned = excluded.learned`,
    [personaId, algorithm, sequence, hash, encodeLearned(learned)],
  )
}

/** Writes records to a persona's log, and no state. */
export async function writeRecords(
  tx: Transaction,
  personaId: string,
  added: readonly AdaptationRecord[],
): Promise<void> {
  if (added.length === 0) return
  await Promise.all([
    tx.run(
      `INSERT INTO adaptation_log (persona_id)
         SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM adaptation_log WHERE persona_id = $1)`,
      [personaId],
    ),
    tx.run(
      `INSERT INTO adaptation (log_id, sequence, id, idempotency_key, record)
         SELECT log_id, r.* FROM adaptation_log, unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) r
          WHERE persona_id = $1`,
      [
        personaId,
        added.map(({ sequence }) => sequence),
        added.map(({ id }) => id),
        added.map(({ idempotency_key }) => idempotency_key ?? null),
        added.map(textOfRecord),
      ],
    ),
  ])
}

/** Each of two personas gets the log of the other one. */
export async function exchangeLogs(tx: Transaction, one: string, other: string): Promise<void> {
  await tx.run(
    'UPDATE adaptation_log SET persona_id = CASE persona_id WHEN $1 THEN $2 ELSE $1 END WHERE persona_id IN ($1, $2)',
    [one, other],
  )
}

async function readLog(sql: Sql, scope: Scope): Promise<readonly AdaptationRecord[]> {
  const all: AdaptationRecord[] = []
  for await (const page of logPages(sql, scope)) all.push(...page)
  return all
}

/** A persona's log in pages within the limits of a snapshot's batch. */
export async function* logPages(sql: Sql, scope: Scope): AsyncGenerator<readonly AdaptationRecord[]> {
  for (let last = 0; ; ) {
    const rows = await sql.rows<{ sequence: number; record: string }>(
      `SELECT sequence, record FROM ${ownLog}
        WHERE persona_id = $1 AND user_id = $2 AND sequence > $3 ORDER BY sequence LIMIT ${snapshotBatch.rows}`,
      [scope.personaId, scope.userId, last],
    )
    if (rows.length === 0) return
    for (const page of pagesOf(rows, ({ record }) => Buffer.byteLength(record)))
      yield page.map(({ record }) => recordOf(scope, record))
    last = rows.at(-1)!.sequence
  }
}

/** Parts rows into pages within the limits of a snapshot's batch; a single larger row is a page of its own. */
export function* pagesOf<R>(rows: readonly R[], sizeOf: (row: R) => number): Generator<readonly R[]> {
  let page: R[] = []
  let bytes = 0
  for (const row of rows) {
    const size = sizeOf(row)
    if (page.length > 0 && (bytes + size > snapshotBatch.bytes || page.length === snapshotBatch.rows)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(row)
    bytes += size
  }
  if (page.length > 0) yield page
}
