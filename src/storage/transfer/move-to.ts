import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { installationMarkOf } from '../../installation-id.ts'
import { databaseName } from '../../settings/settings.ts'
import { replaceFile } from '../files/atomic.ts'
import { type MovedMark, readMovedMark, refuseMoved, removeMovedMark, writeMovedMark } from '../files/moved-mark.ts'
import { openDatabase as openPostgres } from '../postgres/connection.ts'
import { isAway, operatorFailure } from '../postgres/errors.ts'
import { migrate } from '../postgres/schema.ts'
import type { Database } from '../postgres/sql.ts'
import { vectorColumn } from '../postgres/vectors-column.ts'
import { movedTables } from '../schema/tables.ts'
import { openDatabase } from '../sqlite/database.ts'
import { translated as sqliteTranslated } from '../sqlite/errors.ts'
import { holdDatabase } from '../sqlite/hold.ts'
import type { FolderSide } from './folder-rows.ts'
import { filledTables } from './postgres-target.ts'
import type { TransferControl } from './progress.ts'
import { fillPostgres, type Transferred } from './to-postgres.ts'

/** The places of a data folder that a transfer reads and writes. */
export function placesIn(folder: string) {
  return { database: join(folder, 'aichat.db'), plugins: join(folder, 'plugins'), backups: join(folder, 'backups') }
}

export interface MoveToOptions extends TransferControl {
  readonly folder: string
  readonly url: string
  /** The folder stays in use: a copy. */
  readonly keep: boolean
}

/** A move that was done; `rows` is empty where an earlier run had done it and was cut off before it said so. */
export interface MovedTo extends Transferred {
  readonly to: string
}

/**
 * Moves all of a data folder to an empty PostgreSQL database, in one transaction. The folder is held meanwhile: `busy`
 * where a process has it open. If this process ends midway, either the folder is unchanged and the database empty, or
 * all is moved; in between the folder's mark says `moving`, and the next run finds out.
 */
export async function moveToPostgres({ folder, url, keep, ...control }: MoveToOptions): Promise<MovedTo> {
  const to = databaseName(url)
  const mark = readMovedMark(folder)
  if (mark?.state === 'moved' || (mark && mark.to !== to)) refuseMoved(folder)
  const { database: path, ...files } = placesIn(folder)
  if (!existsSync(path)) throw new AppError('not_found', `There is no database in ${folder} yet`)
  const db = openPostgres(url)
  try {
    await migrate(db)
    if (mark) {
      if (await isDone(db, mark)) return finish(folder, mark)
      removeMovedMark(folder)
    }
    // Of the newest schema.
    const newest = await openDatabase(path, { vectors: false })
    newest.close()
    const held = holdDatabase(path)
    try {
      const moved = await move(db, { db: held.db!, ...files }, { folder, keep, control, to })
      await afterwards(db)
      return { ...moved, to }
    } finally {
      held.release()
    }
  } catch (reason) {
    throw sqliteTranslated(operatorFailure(reason))
  } finally {
    await db.close()
  }
}

interface MoveTask {
  readonly folder: string
  readonly keep: boolean
  readonly control: TransferControl
  readonly to: string
}

async function move(db: Database, source: FolderSide, { folder, keep, control, to }: MoveTask): Promise<Transferred> {
  const vectors = await vectorColumn(db)
  let mark: MovedMark | undefined
  try {
    const moved = await db.transaction(
      async (tx) => {
        const { installation, ...done } = await fillPostgres({ tx, vectors, name: to }, source, control)
        if (!keep) {
          mark = { state: 'moving', to, id: installation, at: Date.now() }
          writeMovedMark(folder, mark)
        }
        return done
      },
      { copies: true, statementTimeout: 0 },
    )
    if (mark) finish(folder, mark)
    return moved
  } catch (reason) {
    // Where the answer to the commit was lost, the next run asks.
    if (mark && !isAway(reason)) removeMovedMark(folder)
    throw reason
  }
}

/** Whether the transaction of a run that was cut off had been committed. */
async function isDone(db: Database, { id }: MovedMark): Promise<boolean> {
  const found = await db.row<{ id: string }>('SELECT id FROM installation')
  return found?.id === id && (await filledTables(db)).length > 0
}

function finish(folder: string, mark: MovedMark): MovedTo {
  writeMovedMark(folder, { ...mark, state: 'moved' })
  replaceFile(installationMarkOf(folder), `${mark.id}\n`)
  return { to: mark.to, rows: [], personas: 0 }
}

/** Statistics for the first queries; a failure leaves them to the server's own upkeep. */
async function afterwards(db: Database): Promise<void> {
  await db
    .transaction((tx) => tx.script(`ANALYZE ${movedTables.map(({ name }) => name).join(', ')}`), {
      statementTimeout: 0,
    })
    .catch(() => undefined)
}
