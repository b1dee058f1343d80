import type { Statement as Prepared } from 'better-sqlite3'
import {
  type Ask,
  createCompiler,
  type Dialect,
  type InsertInto,
  native,
  type StoreDatabase,
  type Value,
  type Work,
} from '../port.ts'
import type { ChangeKind } from '../shared/changes.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'

/** SQLite for the stores. A statement is prepared at its first use. */
export function createSqliteDriver(db: Database, changes: OwnChanges): StoreDatabase {
  const perform = performerOf(db)
  const changed = (kind: ChangeKind | undefined) => {
    if (kind === 'accounts') changes.wroteAccounts()
    if (kind === 'prices') changes.wrotePrices()
    if (kind === 'limits') changes.wroteLimits()
  }
  const transaction = db.transaction((work: () => Work<unknown>) => runNow(work(), perform))
  return {
    read: (work) => runNow(work, perform),
    run: async (statement) => perform({ ask: 'run', statement }) as number,
    async write<R>(work: () => Work<R>, kind?: ChangeKind) {
      try {
        return transaction.immediate(work) as R
      } finally {
        changed(kind)
      }
    },
    cached: (kind, find) =>
      createSessionCache(
        () => changes.mark(kind),
        (id) => runNow(find([id]), perform).get(id),
      ),
  }
}

/** Runs work inside of a transaction that is open on the connection, or statement by statement where none is. */
export function runOn<R>(db: Database, work: Work<R>): R {
  return runNow(work, performerOf(db))
}

/** A step of SQLite alone. */
export function onSqlite<R>(perform: (db: Database) => R): Work<R> {
  return native(perform)
}

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
  const perform: Perform = (ask) => {
    if (ask.ask === 'together') return ask.works.map((work) => runNow(work, perform))
    if (ask.ask === 'native') return (ask.perform as (db: Database) => unknown)(db)
    if (ask.ask === 'insert') {
      const { into } = ask
      const statement = inserts.get(into) ?? db.prepare(insertText(into))
      inserts.set(into, statement)
      const rows = ask.rows.map((row) => row.map(sqlite.value))
      if (into.returning) return rows.map((row) => statement.get(...row)).filter((row) => row !== undefined)
      for (const row of rows) statement.run(...row)
      return []
    }
    const { text, values } = compile(ask.statement)
    let statement = prepared.get(text)
    if (!statement) {
      statement = db.prepare(text)
      prepared.set(text, statement)
    }
    if (ask.ask === 'rows') return statement.all(...values)
    if (ask.ask === 'row') return statement.get(...values)
    return statement.run(...values).changes
  }
  performers.set(db, perform)
  return perform
}

function insertText({ table, columns, onConflict, returning }: InsertInto): string {
  const names = Object.keys(columns)
  const places = names.map(() => '?').join(', ')
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})${onConflict ? ` ON CONFLICT ${onConflict}` : ''}${
    returning ? ` RETURNING ${returning}` : ''
  }`
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
