import type { MaybePromise } from '../../accounts/accounts.ts'
import type { ChangeKind } from '../shared/changes.ts'

/**
 * The port between the stores and a database. A store is written once, as generators that yield statements; a driver runs
 * them: SQLite's to the end at once, so that nothing comes between two statements, PostgreSQL's by awaiting each answer,
 * with the parts of one `together` on their way at the same time.
 */

/** A value of a column. A database without booleans keeps 0 and 1; undefined is stored as NULL. */
export type Value = string | number | boolean | Uint8Array | null | undefined

/** SQL with its values, made by `sql`. The text is compiled once for each template and database. */
export interface Statement {
  readonly strings: TemplateStringsArray
  readonly parts: readonly Part[]
}

/** What may are in a template: a value, or a piece of SQL. */
export type Part = Value | Word | Listed | ListedBytes | Rows | Statement

/** SQL of which the databases have different spellings. */
export type Word = ReturnType<typeof word>

/** A condition on a column to have one of these values. */
export type Listed = ReturnType<typeof among>

/** The same for values of bytes. */
export type ListedBytes = ReturnType<typeof amongBytes>

/** Rows of texts and numbers as a table, see `tableOf`. */
export interface Rows {
  readonly columns: Readonly<Record<string, ColumnType>>
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** The types of columns that `tableOf` can write. */
export type ColumnType = 'text' | 'integer' | 'real'

/** The types of columns that `insert` can write. */
export type InsertType = ColumnType | 'boolean' | 'bytes'

/**
 * A statement. What is in `${}` is a value, except pieces of SQL: `word`, `among`, `tableOf`, and other statements. The
 * same places of one template hold pieces of the same kind in each call.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Statement {
  return { strings, parts }
}

/** A piece of SQL that is put together when it runs, from names in the program alone: never from what a user sent. */
export function raw(text: string): Statement {
  return { strings: Object.assign([text], { raw: [text] }), parts: [] }
}

/** SQL that the databases spell in different ways; one spelling alone is for both. */
export function word(sqlite: string, postgres = sqlite) {
  return { sqlite, postgres }
}

/** `IN` for a list of any length: `WHERE id ${among(ids)}`. */
export function among(values: readonly (string | number)[]) {
  return { among: values }
}

/** `IN` for a list of bytes, such as digests. */
export function amongBytes(values: readonly Uint8Array[]) {
  return { amongBytes: values }
}

/** Rows as a table: `FROM ${tableOf({ id: 'text', at: 'integer' }, rows)} AS t`; one statement writes any number. */
export function tableOf(columns: Rows['columns'], rows: Rows['rows']): Rows {
  return { columns, rows }
}

/** Locks the rows of a query until the transaction ends, where a database has several writers. */
export const forUpdate = word('', 'FOR UPDATE')

/** The same, and leaves out the rows that another transaction has locked. */
export const skipLocked = word('', 'FOR UPDATE SKIP LOCKED')

/** No limit, in front of an OFFSET: SQLite has none without a limit. */
export const unlimited = word('LIMIT -1', '')

/** The larger one of two values. */
export const greatest = word('max', 'greatest')

/** The smaller one. */
export const least = word('min', 'least')

/** The place of a text within another, counted from 1; 0 where it is absent. */
export const position = word('instr', 'strpos')

/** What a store asks for: the answer of a statement, or the results of several works. */
export type Ask =
  | { readonly ask: 'rows' | 'row' | 'run' | 'lock'; readonly statement: Statement }
  | { readonly ask: 'insert'; readonly into: InsertInto; readonly rows: readonly (readonly Value[])[] }
  | { readonly ask: 'together'; readonly works: readonly Work<unknown>[] }
  | { readonly ask: 'turn'; readonly name: string }
  | { readonly ask: 'native'; readonly perform: (connection: never) => unknown }

/** The work of a store on a database: yields what it asks for, and returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: what comes back depends on what was asked; `row`, `rows` and `run` type it.
export type Work<R> = Generator<Ask, R, any>

/** All rows of a query. */
export function* rows<R extends object>(statement: Statement): Work<R[]> {
  return yield { ask: 'rows', statement }
}

/** The first row of a query. */
export function* row<R extends object>(statement: Statement): Work<R | undefined> {
  return yield { ask: 'row', statement }
}

/** Runs a statement that writes. The result is the number of rows that it changed. */
export function* run(statement: Statement): Work<number> {
  return yield { ask: 'run', statement }
}

/** Where `insert` writes. The text is made once for each of these objects. */
export interface InsertInto {
  readonly table: string
  readonly columns: Readonly<Record<string, InsertType>>
  /** What follows `ON CONFLICT`, where one may be. */
  readonly onConflict?: string
  /** The columns, texts and numbers, by which a row is known: the result says then which rows were written. */
  readonly key?: readonly string[]
}

/**
 * Inserts rows, in their order, each with a value for every column. Numbers and bytes arrive as they are, where `tableOf` makes
 * texts of them. The result says of each row whether it was written; it is empty without a `key`.
 */
export function* insert(into: InsertInto, added: readonly (readonly Value[])[]): Work<readonly boolean[]> {
  return added.length === 0 ? [] : yield { ask: 'insert', into, rows: added }
}

/** The same for rows by the names of their columns; more of a row is left out. */
export function* insertNamed<I extends InsertInto>(
  into: I,
  added: readonly { readonly [Name in keyof I['columns']]: Value }[],
): Work<void> {
  const names: readonly (keyof I['columns'])[] = Object.keys(into.columns)
  yield* insert(
    into,
    added.map((each) => names.map((name) => each[name])),
  )
}

/** A statement that concerns other machines alone: a lock, an announcement. Nothing on a database of one machine. */
export function* lock(statement: Statement): Work<void> {
  yield { ask: 'lock', statement }
}

/** Works that do not need each other's results, in this order; over a network they go together. */
export function* together<const W extends readonly Work<unknown>[]>(
  ...works: W
): Work<{ [K in keyof W]: W[K] extends Work<infer R> ? R : never }> {
  return yield { ask: 'together', works }
}

/** Has transactions of the same name go on one after the other until their ends, where a database has several writers. */
export function* takeTurn(name: string): Work<void> {
  yield { ask: 'turn', name }
}

// biome-ignore lint/correctness/useYield: it asks for nothing.
export function* nothing(): Work<undefined> {
  return undefined
}

/** A step that one database alone has, on its own connection; see `onSqlite` and `onPostgres` of the drivers. */
export function* native<R>(perform: (connection: never) => MaybePromise<R>): Work<R> {
  return yield { ask: 'native', perform }
}

/** Whether a row was refused because another one has its key. */
export function isTaken(reason: unknown): boolean {
  const { code } = reason as { readonly code?: unknown }
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** A database as the stores see it. Work fails with the errors of its driver. */
export interface StoreDatabase {
  /** Runs work that writes nothing. At once, without a promise, where the database is on this machine. */
  read<R>(work: Work<R>): MaybePromise<R>
  /** Runs work that reads as of one moment, whatever others write meanwhile. */
  moment<R>(work: () => Work<R>): Promise<R>
  /** Runs a single statement that writes, as a transaction of its own. Resolves with the number of rows that it changed. */
  run(statement: Statement): Promise<number>
  /**
   * Runs work as one transaction. The work of another process may have it run again from its start: it changes rows alone.
   * With a kind, writers of that kind follow each other, and the cached data of that kind is dropped by all processes, also
   * where it failed.
   */
  write<R>(work: () => Work<R>, kind?: ChangeKind): Promise<R>
  /** Removes rows as one transaction of any length. Resolves with their number; rows that it hid go then too. */
  remove(work: () => Work<number>): Promise<number>
  /** As `write`, for what every request writes: at once where the database is here and free, else without blocking. */
  writeSoon<R>(work: () => Work<R>): MaybePromise<R>
  /** As `writeSoon`; the commit reaches the disk off the event loop, and is on it when this resolves. */
  append<R>(work: () => Work<R>): Promise<R>
  /** Whether work in slices may go on: false once a service stops, which leaves the rest to the next start. */
  goesOn(): boolean
  /**
   * Keeps rows that decide on requests for as long as no data of that kind changes, see session-cache.ts. `find` reads rows
   * by their ids; over a network all ids of one turn of the event loop are one query.
   */
  cached<Row extends object>(
    kind: ChangeKind,
    find: (ids: readonly string[]) => Work<ReadonlyMap<string, Row>>,
  ): (id: string) => MaybePromise<Row | undefined>
  /**
   * Keeps what chats read of personas, where the database is shared over a network: until this process writes something of a
   * persona, and for a second at most, so that the writes of other processes show that late. A database of this machine is read
   * each time.
   */
  brief<Row extends object>(read: (key: string) => MaybePromise<Row | undefined>): typeof read
}

/** A statement as a database takes it: the values in the order of their places. */
export interface Compiled {
  readonly text: string
  readonly values: readonly unknown[]
}

/** How a database writes what differs. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** The place of a value, by its number from 1. */
  place(number: number): string
  value(value: Value): unknown
  /** A list of values, as one value. */
  among(place: string): string
  amongValue(values: Listed['among']): unknown
  amongBytes(place: string): string
  amongBytesValue(values: ListedBytes['amongBytes']): unknown
  /** A table of rows. Its values are given as many values as it says, each at a place. */
  table(columns: Rows['columns'], next: () => string): string
  tableValues(rows: Rows): readonly unknown[]
}

/** Compiles statements for one database. */
export function createCompiler(dialect: Dialect): (statement: Statement) => Compiled {
  /** Texts of templates that hold no other statement: these have one text each. */
  const texts = new WeakMap<TemplateStringsArray, string>()

  function textOf(statement: Statement, next: () => string): string {
    return statement.strings.reduce((text, string, index) => {
      const part = statement.parts[index - 1]
      return text + sqlOf(part, next) + string
    })
  }

  function sqlOf(part: Part, next: () => string): string {
    if (!isPiece(part)) return next()
    if ('strings' in part) return textOf(part, next)
    if ('among' in part) return dialect.among(next())
    if ('amongBytes' in part) return dialect.amongBytes(next())
    if ('columns' in part) return dialect.table(part.columns, next)
    return part[dialect.name]
  }

  function collect(parts: readonly Part[], values: unknown[]): boolean {
    let isNested = false
    for (const part of parts) {
      if (!isPiece(part)) values.push(dialect.value(part))
      else if ('among' in part) values.push(dialect.amongValue(part.among))
      else if ('amongBytes' in part) values.push(dialect.amongBytesValue(part.amongBytes))
      else if ('columns' in part) values.push(...dialect.tableValues(part))
      else if ('strings' in part) {
        isNested = true
        collect(part.parts, values)
      }
    }
    return isNested
  }

  return (statement) => {
    const values: unknown[] = []
    const isNested = collect(statement.parts, values)
    let text = isNested ? undefined : texts.get(statement.strings)
    if (text === undefined) {
      let number = 0
      text = textOf(statement, () => dialect.place(++number))
      if (!isNested) texts.set(statement.strings, text)
    }
    return { text, values }
  }
}

function isPiece(part: Part): part is Exclude<Part, Value> {
  return typeof part === 'object' && part !== null && !(part instanceof Uint8Array)
}
