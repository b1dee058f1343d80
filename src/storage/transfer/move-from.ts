import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { makeFolder } from '../../formats/formats.ts'
import { databaseName } from '../../settings/settings.ts'
import { listFolder } from '../files/atomic.ts'
import { movedMarkOf, readMovedMark } from '../files/moved-mark.ts'
import { finishReplacement, type Move, replaceTogether } from '../files/replacement.ts'
import { openDatabase as openPostgres } from '../postgres/connection.ts'
import { operatorFailure } from '../postgres/errors.ts'
import { migrate } from '../postgres/schema.ts'
import type { Database, Transaction } from '../postgres/sql.ts'
import { vectorColumn } from '../postgres/vectors-column.ts'
import { movedTables } from '../schema/tables.ts'
import type { Database as Sqlite } from '../sqlite/connection.ts'
import { translated as sqliteTranslated } from '../sqlite/errors.ts'
import { type Hold, holdDatabase } from '../sqlite/hold.ts'
import { placesIn } from './move-to.ts'
import { listed } from './postgres-target.ts'
import type { TransferControl } from './progress.ts'
import { fillFolder } from './to-folder.ts'
import type { Transferred } from './to-postgres.ts'

export interface MoveFromOptions extends TransferControl {
  readonly folder: string
  readonly url: string
}

export interface MovedFrom extends Transferred {
  readonly from: string
  /** The folder with the data from before; undefined where there was none. */
  readonly before: string | undefined
}

/**
 * Moves all of a PostgreSQL database to a data folder that is empty or whose data moved to that database before;
 * earlier content is kept aside. Writers are locked out of the database meanwhile. Everything is written into new
 * files, which take their places together at the end.
 */
export async function moveFromPostgres({ folder, url, ...control }: MoveFromOptions): Promise<MovedFrom> {
  const from = databaseName(url)
  makeFolder(folder)
  finishReplacement(folder)
  const { database } = placesIn(folder)
  const held = holdDatabase(database)
  const staged = join(folder, `.move-${randomBytes(4).toString('hex')}`)
  const db = openPostgres(url)
  try {
    refuseFilled(folder, held, from)
    sweep(folder)
    await readable(db)
    const places = placesIn(staged)
    const vectors = await vectorColumn(db)
    const moved = await db.transaction(
      async (tx) => {
        // A further attempt begins again.
        rmSync(staged, { recursive: true, force: true })
        await keepWritersOut(tx)
        return fillFolder({ tx, vectors }, places, control)
      },
      { copies: true, level: 'repeatable read', statementTimeout: 0 },
    )
    const before = join(folder, `before-move-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`)
    replaceTogether(folder, movesOf(folder, staged, before))
    return { ...moved, from, before: existsSync(before) ? before : undefined }
  } catch (reason) {
    throw sqliteTranslated(operatorFailure(reason))
  } finally {
    held.release()
    rmSync(staged, { recursive: true, force: true })
    await db.close()
  }
}

/** Brings an older schema to the newest one, as the first command there would. Throws `not_found` where there is none. */
export async function readable(db: Database): Promise<void> {
  const there = await db.row<{ there: boolean }>(`SELECT to_regclass('migration') IS NOT NULL AS there`)
  if (!there!.there) throw new AppError('not_found', `The database ${db.name} holds no data of aichat`)
  await migrate(db)
}

/**
 * Locks every table against writers before the transaction sees its state. Throws `busy` where an instance runs: it would go on
 * with a database that is not the one in use.
 */
async function keepWritersOut(tx: Transaction): Promise<void> {
  await tx.script(`SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL enable_sort = off;
    LOCK TABLE ${movedTables.map(({ name }) => name).join(', ')} IN SHARE MODE`)
  // A service polls four times in a second.
  const [services] = await tx.rows<{ count: number }>(
    `SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'aichat' AND pid <> pg_backend_pid()
        AND query LIKE 'SELECT kind, number%FROM change' AND query_start > clock_timestamp() - interval '2 seconds'`,
  )
  if (services!.count > 0)
    throw new AppError('busy', 'Instances of aichat run on this database: stop them first', {
      details: [`${services!.count} of them polled it within two seconds`],
    })
}

function refuseFilled(folder: string, { db }: Hold, from: string): void {
  const path = placesIn(folder).database
  if (!existsSync(path)) return
  const mark = readMovedMark(folder)
  if (mark?.state === 'moved' && mark.to === from) return
  const found = db ? filledIn(db) : ['a database that cannot be read']
  if (found.length > 0)
    throw new AppError('cannot_create', `The data folder ${folder} is not empty: it holds ${listed(found)}`, {
      details: ['Set AICHAT_HOME to an empty folder; nothing was changed'],
    })
}

function filledIn(db: Sqlite): readonly string[] {
  const there = db.prepare<[string], 1>(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).pluck()
  const isFilled = (name: string) => db.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() !== undefined
  return movedTables
    .filter(({ only, firstRows }) => only !== 'postgres' && firstRows === undefined)
    .filter(({ name, sqlite = name }) => there.get(sqlite) && isFilled(sqlite))
    .map(({ rows }) => rows)
}

function sweep(folder: string): void {
  for (const name of listFolder(folder))
    if (/^\.move-[0-9a-f]{8}$/.test(name)) rmSync(join(folder, name), { recursive: true, force: true })
}

function movesOf(folder: string, staged: string, before: string): readonly Move[] {
  const from = placesIn(staged)
  const to = placesIn(folder)
  const folders = (['plugins', 'backups'] as const).filter((name) => hasFiles(from[name]) || existsSync(to[name]))
  return [
    ...folders.map((name) => ({ from: from[name], to: to[name], aside: join(before, name) })),
    // A log that belongs to another database would damage this one.
    ...[`${to.database}-wal`, `${to.database}-shm`, movedMarkOf(folder)].map((path) => ({
      from: null,
      to: path,
      aside: join(before, basename(path)),
    })),
    { from: from.database, to: to.database, aside: join(before, basename(to.database)) },
  ]
}

function hasFiles(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0
}
