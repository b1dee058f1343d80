import { AppError } from '../../errors.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { Transaction } from '../postgres/sql.ts'
import type { VectorColumn } from '../postgres/vectors-table.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import { batchesOf } from './batches.ts'
import type { TableDigest } from './digest.ts'
import { countIn, type FolderSide, rowsIn } from './folder-rows.ts'
import { isSamePersona, readByKeys, scopesIn } from './persona-hashes.ts'
import { copyInto, digestIn, type PostgresSide } from './postgres-rows.ts'
import { becomeInstallation, release, takeEmpty } from './postgres-target.ts'
import { createProgress, type TransferControl } from './progress.ts'

/** The result of a move. */
export interface Transferred {
  /** Rows by table, in words. */
  readonly rows: readonly { readonly rows: string; readonly count: number }[]
  readonly personas: number
}

/** An empty database, and the transaction that fills it. */
export interface EmptyPostgres {
  readonly tx: Transaction
  readonly vectors: VectorColumn
  readonly name: string
  /** The id of the installation that its instances know; another one unless given. */
  readonly installation?: string | undefined
}

/**
 * Fills an empty database with all of a data folder, in a transaction of the caller's, and compares both: the digest of each
 * table, and the content hash of each persona. Throws `cannot_create` for a database that is not empty, and `internal` where
 * the two differ; nothing may be committed then.
 */
export async function fillPostgres(
  { tx, vectors, name, installation }: EmptyPostgres,
  source: FolderSide,
  control: TransferControl,
): Promise<Transferred & { readonly installation: string }> {
  const side: PostgresSide = { tx, vectors, hasHidden: false }
  await takeEmpty(tx, name)
  const counts = new Map<MovedTable, number>()
  for (const table of movedTables) {
    counts.set(table, countIn(source, table))
    await yieldToEventLoop()
  }
  const progress = createProgress(counts, control)
  const wanted = new Map<MovedTable, TableDigest>()
  for (const table of movedTables) {
    const batches = batchesOf(table, rowsIn(source, table))
    wanted.set(table, await copyInto(side, table, batches, (rows) => progress.copied(table, rows)))
  }
  await release(tx, lastPriceOf(source))
  for (const [table, { rows, digest }] of wanted) {
    if ((await digestIn(side, table, rows)).digest !== digest) throw different(table.rows)
    progress.compared(table, rows)
  }
  const scopes = scopesIn(source)
  await readByKeys(side)
  for (const scope of scopes)
    if (!(await isSamePersona(source, side, scope, (memories) => progress.summed(memories))))
      throw different(`the persona ${scope.personaId}`)
  return { ...transferred(wanted), personas: scopes.length, installation: await becomeInstallation(tx, installation) }
}

/** The rows that were moved, without tables of none. */
export function transferred(digests: ReadonlyMap<MovedTable, TableDigest>): Pick<Transferred, 'rows'> {
  const moved = [...digests].map(([table, { rows }]) => ({ rows: table.rows, count: rows }))
  return { rows: moved.filter(({ count }) => count > 0) }
}

/** The two sides hold different things, although one was made of the other. */
export function different(what: string): AppError {
  return new AppError('internal', `The copy differs from the original in ${what}: nothing was changed`)
}

function lastPriceOf({ db }: FolderSide): number {
  const last = db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'price'`).pluck().get()
  return last ?? 0
}
