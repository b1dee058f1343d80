import { setTimeout as sleep } from 'node:timers/promises'
import type { MaybePromise } from '../../accounts/accounts.ts'
import {
  type Ask,
  createCompiler,
  type Dialect,
  type InsertInto,
  native,
  row,
  run,
  type StoreDatabase,
  sql,
  type Value,
  type Work,
} from '../port/port.ts'
import type { ChangeKind } from '../shared/changes.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'
import { goesOn } from './housekeeping.ts'
import { syncLog, withoutSync } from './late-sync.ts'

/** SQLite for the stores. A statement is prepared at its first use. `removeHidden` removes rows that were hidden, some at a time. */
export function createSqliteDriver(
  db: Database,
  changes: OwnChanges,
  removeHidden: () => Promise<void>,
): StoreDatabase {
  const perform = performerOf(db)
  const changed = (kind: ChangeKind | undefined) => {
    if (kind === 'accounts') changes.wroteAccounts()
    if (kind === 'prices') changes.wrotePrices()
    if (kind === 'limits') changes.wroteLimits()
  }
  const transaction = db.transaction((work: () => Work<unknown>, kind?: ChangeKind) =>
    runNow(kind === 'prices' ? counted(work()) : work(), perform),
  )
  return {
    read: (work) => runNow(work, perform),
    moment: async <R>(work: () => Work<R>) => transaction.deferred(work) as R,
    run: async (statement) => perform({ ask: 'run', statement }) as number,
    async write<R>(work: () => Work<R>, kind?: ChangeKind) {
      let written: R
      try {
        written = withoutSync(db, () => transaction.immediate(work, kind) as R)
      } finally {
        changed(kind)
      }
      await syncLog(db)
      return written
    },
    writeSoon: <R>(work: () => Work<R>) => patiently(() => withoutWaiting(db, () => transaction.immediate(work) as R)),
    async append<R>(work: () => Work<R>) {
      const written = await patiently(() =>
        withoutWaiting(db, () => withoutSync(db, () => transaction.immediate(work) as R)),
      )
      await syncLog(db)
      return written
    },
    goesOn: () => goesOn(db),
    async remove(work) {
      const removed = transaction.immediate(work) as number
      if (removed > 0) await removeHidden()
      return removed
    },
    cached: (kind, find) =>
      createSessionCache(
        () => changes.mark(kind),
        (id) => runNow(find([id]), perform).get(id),
      ),
    brief: (read) => read,
  }
}

/** Another process holds the write lock for a moment: tried again so often, with such pauses in milliseconds. */
const tries = 60
const pauseMs = 25

/** Runs a write: at once where the lock is free, else when it is. */
function patiently<R>(write: () => R): MaybePromise<R> {
  try {
    return write()
  } catch (reason) {
    if (!isBusy(reason)) throw reason
    return waiting(write)
  }
}

async function waiting<R>(write: () => R): Promise<R> {
  for (let round = 1; ; round++) {
    await sleep(pauseMs)
    try {
      return write()
    } catch (reason) {
      if (!isBusy(reason) || round === tries) throw reason
    }
  }
}

function isBusy(reason: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((reason as { code?: unknown } | null)?.code))
}

/** Runs work inside of a transaction that is open on the connection, or statement by statement where none is. */
export function runOn<R>(db: Database, work: Work<R>): R {
  return runNow(work, performerOf(db))
}

/** Work that may write prices: other processes see by a count whether it did, see changes.ts. */
function* counted<R>(work: Work<R>): Work<R> {
  const written = sql`SELECT total_changes() AS number`
  const before = yield* row<{ number: number }>(written)
  const result = yield* work
  const after = yield* row<{ number: number }>(written)
  if (after!.number !== before!.number) yield* run(sql`UPDATE price_changes SET number = number + 1`)
  return result
}

/** A step of SQLite alone. */
export function onSqlite<R>(perform: (db: Database) => R): Work<R> {
  return native(perform)
}

type Prepared = ReturnType<Database['prepare']>

type Perform = (ask: Ask) => unknown

function runNow<R>(work: Work<R>, perform: Perform): R {
  let step = work.next()
  while (!step.done) {
    let answer: unknown
    try {
      answer = perform(step.value)
    } catch (reason) {
      step = work.throw(reason)
      continue
    }
    step = work.next(answer)
  }
  return step.value
}

const performers = new WeakMap<Database, Perform>()

/** Performs what work asks for; the prepared statements of a connection are kept as long as it is open. */
function performerOf(db: Database): Perform {
  const known = performers.get(db)
  if (known) return known
  const compile = createCompiler(sqlite)
  const prepared = new Map<string, Prepared>()
  const inserts = new WeakMap<InsertInto, Prepared>()
  const prepare = (text: string) => {
    const known = prepared.get(text)
    if (known) return known
    const statement = db.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  const perform: Perform = (ask) => {
    if (ask.ask === 'together') return ask.works.map((work) => runNow(work, perform))
    // A transaction that writes has no other at the same time.
    if (ask.ask === 'turn') return undefined
    if (ask.ask === 'native') return (ask.perform as (db: Database) => unknown)(db)
    if (ask.ask === 'lock') return
    if (ask.ask === 'insert') {
      const { into, rows } = ask
      const statement = inserts.get(into) ?? db.prepare(insertText(into))
      inserts.set(into, statement)
      const written = rows.map((row) => statement.run(...bound(row)).changes > 0)
      return into.key ? written : []
    }
    const { text, values } = compile(ask.statement)
    const statement = prepare(text)
    if (ask.ask === 'rows') return statement.all(...values)
    if (ask.ask === 'row') return statement.get(...values)
    return statement.run(...values).changes
  }
  performers.set(db, perform)
  return perform
}

function insertText({ table, columns, onConflict }: InsertInto): string {
  const names = Object.keys(columns)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
    ${onConflict ? `ON CONFLICT ${onConflict}` : ''}`
}

/** A row as SQLite takes it; most rows are so already. */
function bound(row: readonly Value[]): readonly unknown[] {
  return row.some((value) => value === undefined || typeof value === 'boolean') ? row.map(sqlite.value) : row
}

/** SQLite's spelling: lists and rows are JSON texts (https://sqlite.org/json1.html#jeach). */
const sqlite: Dialect = {
  name: 'sqlite',
  place: () => '?',
  value: (value: Value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)),
  among: (place) => `IN (SELECT value FROM json_each(${place}))`,
  amongValue: (values) => JSON.stringify(values),
  amongBytes: (place) => `IN (SELECT unhex(value) FROM json_each(${place}))`,
  amongBytesValue: (values) => JSON.stringify(values.map((bytes) => Buffer.from(bytes).toString('hex'))),
  table: (columns, next) =>
    `(SELECT ${Object.keys(columns)
      .map((name, index) => `value ->> ${index} AS ${name}`)
      .join(', ')} FROM json_each(${next()}))`,
  tableValues: ({ rows }) => [JSON.stringify(rows)],
}

/** Milliseconds that a write waits which can be tried again soon. */
const shortWait = 10

/** Runs a write that can be tried again soon: it hardly waits for another process. Throws SQLITE_BUSY. */
function withoutWaiting<R>(db: Database, write: () => R): R {
  const timeout = db.pragma('busy_timeout', { simple: true }) as number
  db.pragma(`busy_timeout = ${shortWait}`)
  try {
    return write()
  } finally {
    db.pragma(`busy_timeout = ${timeout}`)
  }
}
