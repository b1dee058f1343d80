import {
  type Ask,
  createCompiler,
  type Dialect,
  type InsertInto,
  native,
  type StoreDatabase,
  type Value,
  type Work,
} from '../port/port.ts'
import type { ChangeKind } from '../shared/changes.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import { allOf } from './all-of.ts'
import type { OwnChanges } from './changes.ts'
import { inOneQuery } from './in-one-query.ts'
import { goesOn, removeHidden } from './removal.ts'
import type { Database, Sql, Transaction } from './sql.ts'

/** What is kept briefly is read again so often: milliseconds, as long as cached data of other kinds may lag behind. */
const briefMs = 1000

/** PostgreSQL for the stores. */
export function createPostgresDriver(db: Database, changes: OwnChanges): StoreDatabase {
  return {
    read: (work) => runOn(db, work),
    moment: (work) => db.transaction((tx) => runOn(tx, work()), { level: 'repeatable read', readOnly: true }),
    run: (statement) => {
      const { text, values } = compile(statement)
      return db.run(text, values)
    },
    write(work, kind) {
      if (!kind) return db.transaction((tx) => runOn(tx, work()))
      return changes.writing(kind, (tx) => runOn(tx, work()), { first: oneWriter(kind) })
    },
    writeSoon: (work) => db.transaction((tx) => runOn(tx, work()), { leavesPersonas: true }),
    append: (work) => db.transaction((tx) => runOn(tx, work()), { leavesPersonas: true }),
    goesOn: () => goesOn(db),
    async remove(work) {
      const removed = await db.transaction((tx) => runOn(tx, work()), { statementTimeout: 0 })
      if (removed > 0) await removeHidden(db)
      return removed
    },
    cached: (kind, find) =>
      createSessionCache(
        () => changes.mark(kind),
        inOneQuery((ids) => runOn(db, find(ids))),
        changes.grace,
      ),
    brief: (read) => createSessionCache(() => `${db.writes()} ${Math.floor(performance.now() / briefMs)}`, read),
  }
}

/** Runs work on a transaction, or on the connection of reads. */
export async function runOn<R>(on: Sql | Transaction, work: Work<R>): Promise<R> {
  let step = work.next()
  while (!step.done) {
    let answer: unknown
    try {
      answer = await perform(on, step.value)
    } catch (reason) {
      step = work.throw(reason)
      continue
    }
    step = work.next(answer)
  }
  return step.value
}

/** A step of PostgreSQL alone, in a transaction. */
export function onPostgres<R>(perform: (tx: Transaction) => Promise<R>): Work<R> {
  return native(perform)
}

async function perform(on: Sql, ask: Ask): Promise<unknown> {
  // Each begins before the first answer comes, and has ended before the transaction does.
  if (ask.ask === 'together') return allOf(ask.works.map((work) => runOn(on, work)))
  if (ask.ask === 'turn') return on.row('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [ask.name])
  if (ask.ask === 'native') return (ask.perform as (on: Sql) => unknown)(on)
  if (ask.ask === 'insert') return insertInto(on, ask.into, ask.rows)
  const { text, values } = compile(ask.statement)
  if (ask.ask === 'rows' || ask.ask === 'lock') return on.rows(text, values)
  return ask.ask === 'row' ? on.row(text, values) : on.run(text, values)
}

const types = { text: 'text', integer: 'bigint', real: 'float8', boolean: 'boolean', bytes: 'bytea' } as const

/** PostgreSQL's spelling: lists are arrays, rows one array for each column. */
const postgres: Dialect = {
  name: 'postgres',
  place: (number) => `$${number}`,
  value: (value) => value ?? null,
  among: (place) => `= ANY (${place})`,
  amongValue: (values) => values,
  amongBytes: (place) => `= ANY (${place})`,
  amongBytesValue: (values) => values,
  table: (columns, next) =>
    `(SELECT * FROM unnest(${Object.values(columns)
      .map((type) => `${next()}::${types[type]}[]`)
      .join(', ')}) AS listed (${Object.keys(columns).join(', ')}))`,
  tableValues: ({ columns, rows }) => arraysOf(columns, rows),
}

/** An array for each column. */
function arraysOf(columns: InsertInto['columns'], rows: readonly (readonly Value[])[]): readonly unknown[] {
  return Object.values(columns).map((type, index) => {
    const values = rows.map((row) => row[index])
    return type === 'integer' ? numbersOf(values) : values
  })
}

async function insertInto(on: Sql, into: InsertInto, rows: readonly (readonly Value[])[]): Promise<readonly boolean[]> {
  const written = await on.rows<Record<string, unknown>>(insertText(into), arraysOf(into.columns, rows))
  const { key } = into
  if (!key) return []
  // A row that is given twice is written once.
  const left = new Set(written.map((row) => key.map((name) => row[name]).join(' ')))
  const places = key.map((name) => Object.keys(into.columns).indexOf(name))
  return rows.map((row) => left.delete(places.map((place) => row[place]).join(' ')))
}

const insertTexts = new WeakMap<InsertInto, string>()

function insertText(into: InsertInto): string {
  const known = insertTexts.get(into)
  if (known !== undefined) return known
  const { table, columns, onConflict, key } = into
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${types[type]}[]`)
  const text = `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})
    ${onConflict ? `ON CONFLICT ${onConflict}` : ''} ${key ? `RETURNING ${key.join(', ')}` : ''}`
  insertTexts.set(into, text)
  return text
}

const compile = createCompiler(postgres)

/** Whole numbers and NULLs as an array's text: the driver's own writing looks at each value, and takes most of the time of a batch. */
function numbersOf(values: readonly unknown[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/**
 * Serialises the writers of one kind until the transaction ends: locks the counter that `changes.writing` raises. For the
 * beginning of a transaction, so that a check of other rows holds until the commit, and all writers take their locks in one
 * order; later statements see the writes of the previous writer.
 */
function oneWriter(kind: ChangeKind): string {
  return `SELECT 1 FROM change WHERE kind = '${kind}' FOR UPDATE`
}
