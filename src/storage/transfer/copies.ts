import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { installationMarkOf, readInstallationMark } from '../../installation-id.ts'
import { replaceFile } from '../files/atomic.ts'
import { openDatabase as openPostgres } from '../postgres/connection.ts'
import { operatorFailure } from '../postgres/errors.ts'
import { migrate } from '../postgres/schema.ts'
import type { Database } from '../postgres/sql.ts'
import type { PostgresSettings } from '../postgres/storage.ts'
import { vectorColumn } from '../postgres/vectors-column.ts'
import type { StorageCopies } from '../shared/copies.ts'
import { sqliteCopies } from '../sqlite/copies.ts'
import { openDatabase } from '../sqlite/database.ts'
import { holdDatabase } from '../sqlite/hold.ts'
import { fillFolder } from './to-folder.ts'
import { fillPostgres } from './to-postgres.ts'

/**
 * Copies of a PostgreSQL database, each a database file as a data folder has it: a backup of the one kind of storage is
 * restored into the other one as well.
 */
export function postgresCopies({ url, folder }: PostgresSettings): StorageCopies {
  const { check, prepare } = sqliteCopies(folder)
  const opened = async <R>(work: (db: Database) => Promise<R>): Promise<R> => {
    const db = openPostgres(url)
    try {
      return await work(db)
    } catch (reason) {
      throw operatorFailure(reason)
    } finally {
      await db.close()
    }
  }
  return {
    kind: 'sqlite',
    path: join(folder, 'aichat.db'),
    check,
    prepare,
    take: (to, onProgress, files) =>
      opened(async (db) => {
        await readable(db)
        const vectors = await vectorColumn(db)
        const places = { database: to, plugins: files.plugins, backups: files.personaBackups }
        // Others go on writing: the transaction sees one moment.
        await db.transaction(
          async (tx) => {
            await tx.script('SET LOCAL idle_in_transaction_session_timeout = 0')
            await fillFolder({ tx, vectors }, places, onProgress)
          },
          { level: 'repeatable read', readOnly: true, statementTimeout: 0 },
        )
      }),
    keepsFiles: true,
    // A restore needs an empty database, without accounts to carry over.
    holdAlone: () => ({ accounts: () => undefined, release: () => {} }),
    fill: (database, files) =>
      opened(async (db) => {
        await migrate(db)
        const made = await openDatabase(database, { vectors: false })
        made.close()
        const held = holdDatabase(database)
        try {
          if (!held.db) throw new AppError('internal', 'The database of the backup does not open')
          const source = { db: held.db, plugins: files.plugins, backups: files.personaBackups }
          const vectors = await vectorColumn(db)
          const known = readInstallationMark(folder)
          const installation = await db.transaction(
            (tx) => fillPostgres({ tx, vectors, name: db.name, installation: known }, source),
            { statementTimeout: 0 },
          )
          if (known === undefined) replaceFile(installationMarkOf(folder), `${installation}\n`)
        } finally {
          held.release()
        }
      }),
  }
}

/** Brings an older schema to the newest one, as the first command there would. Throws `not_found` where there is none. */
async function readable(db: Database): Promise<void> {
  const there = await db.row<{ there: boolean }>(`SELECT to_regclass('migration') IS NOT NULL AS there`)
  if (!there!.there) throw new AppError('not_found', `The database ${db.name} holds no data of aichat`)
  await migrate(db)
}
