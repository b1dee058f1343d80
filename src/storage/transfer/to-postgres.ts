import { randomBytes } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { Sql, Transaction } from '../postgres/sql.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import { type FolderSide, rowsIn } from './folder-rows.ts'
import { digestIn, insertRows, type PostgresSide } from './postgres-rows.ts'

/** An empty database, and the transaction that fills it. */
export interface EmptyPostgres extends PostgresSide {
  readonly name: string
  /** The id of the installation that its instances know; another one unless given. */
  readonly installation?: string | undefined
}

/**
 * Fills an empty database with all of a data folder, in a transaction of the caller's, and compares the digest of each table.
 * Resolves with the id of the installation. Throws `cannot_create` for a database that is not empty, and `internal` where the
 * two differ; nothing may be committed then.
 */
export async function fillPostgres(target: EmptyPostgres, source: FolderSide): Promise<string> {
  const { tx, name, installation } = target
  await takeEmpty(tx, name)
  for (const table of movedTables) {
    const written = await insertRows(target, table, rowsIn(source, table))
    if ((await digestIn(target, table)) !== written) throw different(table)
  }
  await release(tx, lastPriceOf(source))
  return becomeInstallation(tx, installation)
}

/** The two sides hold different rows of a table, although one was made of the other. */
export function different({ rows }: MovedTable): AppError {
  return new AppError('internal', `The copy differs from the original in ${rows}: nothing was changed`)
}

function lastPriceOf({ db }: FolderSide): number {
  const last = db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'price'`).pluck().get()
  return last ?? 0
}

/**
 * Takes an empty database for this transaction and locks other writers out until its end. Counters and marks that
 * triggers keep come with the rows, so that the triggers rest. Throws `cannot_create` for one that is not empty.
 */
async function takeEmpty(tx: Transaction, name: string): Promise<void> {
  const names = movedTables.map((table) => table.name)
  await tx.script(`SET LOCAL idle_in_transaction_session_timeout = 0;
    LOCK TABLE ${names.join(', ')} IN SHARE ROW EXCLUSIVE MODE`)
  const found = await filledTables(tx)
  if (found.length > 0) throw notEmpty(name, found)
  await tx.script(names.map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`).join('; '))
  for (const { name: table, firstRows } of movedTables)
    if (firstRows !== undefined) await tx.run(`DELETE FROM ${table}`)
}

/** The contents in words that a database has already. */
async function filledTables(sql: Sql): Promise<readonly string[]> {
  const asked = movedTables.filter(({ firstRows }) => firstRows === undefined)
  const row = await sql.row<Record<string, boolean>>(
    `SELECT ${asked.map(({ name }) => `EXISTS (SELECT FROM ${name}) AS ${name}`).join(', ')}`,
  )
  return asked.filter(({ name }) => row![name]).map(({ rows }) => rows)
}

/** Lets the triggers work again, and the numbers of rows go on behind those that came. */
async function release(tx: Transaction, lastPrice: number): Promise<void> {
  await tx.script(movedTables.map(({ name }) => `ALTER TABLE ${name} ENABLE TRIGGER USER`).join('; '))
  // Statistics for the first queries.
  await tx.script(`ANALYZE ${movedTables.map(({ name }) => name).join(', ')}`)
  const columns = await tx.rows<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE is_identity = 'YES' AND table_schema = current_schema() AND table_name = ANY ($1)`,
    [movedTables.map(({ name }) => name)],
  )
  for (const { table_name, column_name } of columns)
    await tx.row(
      `SELECT setval(pg_get_serial_sequence('${table_name}', '${column_name}'), last, true)
         FROM (SELECT max("${column_name}") AS last FROM ${table_name}) rows WHERE last > 0`,
    )
  // The number of a price is never used again, also where that price is gone.
  if (lastPrice > 0)
    await tx.row(
      `SELECT setval(pg_get_serial_sequence('price', 'number'), greatest($1, last_value), true)
      FROM (SELECT coalesce(max(number), 1) AS last_value FROM price) rows`,
      [lastPrice],
    )
}

/** The installation of the database from now on: the given one, its own, or a new one; notifies the others. */
async function becomeInstallation(tx: Transaction, known?: string): Promise<string> {
  await tx.run(
    `INSERT INTO installation (id) VALUES ($1) ON CONFLICT (only_one) DO UPDATE SET id = coalesce($2, installation.id)`,
    [known ?? randomBytes(16).toString('hex'), known ?? null],
  )
  await tx.run('UPDATE installation SET had_accounts = EXISTS (SELECT FROM account)')
  await tx.run('UPDATE change SET number = number + 1')
  return (await tx.row<{ id: string }>('SELECT id FROM installation'))!.id
}

function notEmpty(name: string, found: readonly string[]): AppError {
  return new AppError('cannot_create', `The database ${name} is not empty: it holds ${listed(found)}`, {
    details: ['Give an empty database; nothing was changed'],
  })
}

/** Some of several things in words. */
function listed(things: readonly string[]): string {
  const shown = things.slice(0, 4)
  return things.length > shown.length ? `${shown.join(', ')} and more` : shown.join(', ')
}
