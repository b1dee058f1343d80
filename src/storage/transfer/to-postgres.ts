import { AppError } from '../../errors.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import { type FolderSide, rowsIn } from './folder-rows.ts'
import { digestIn, insertRows, type PostgresSide } from './postgres-rows.ts'
import { becomeInstallation, release, takeEmpty } from './postgres-target.ts'

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
