import { join } from 'node:path'
import type { PluginStore } from '../../plugins/plugins.ts'
import { openPlugins as openPluginFiles, type PluginPlaces } from '../files/plugins.ts'
import { expectsNewer } from '../schema/newer-schema.ts'
import { atFirstUse } from '../shared/lazy-store.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { StorageUse } from '../shared/storage-use.ts'
import type { StoredSize } from '../shared/stored-size.ts'
import { type Lazily, openStores } from '../stores/stores.ts'
import { createChanges, type OwnChanges } from './changes.ts'
import { openDatabase } from './connection.ts'
import type { Context } from './context.ts'
import { createPostgresDriver } from './driver.ts'
import { startFailure, translated, translating } from './errors.ts'
import { type InstallationParts, joinInstallation, refuseMistaken } from './installation.ts'
import { patiently } from './patience.ts'
import { openPlugins } from './plugins.ts'
import { createProcessLease } from './process-lease.ts'
import { deferCleanup } from './removal.ts'
import { isNewest, migrate } from './schema.ts'
import type { Database, Sql } from './sql.ts'

/** A PostgreSQL database that several installations share. */
export interface PostgresSettings extends PluginPlaces, Omit<InstallationParts, 'folder'> {
  /** `postgres://USER:PASSWORD@HOST:PORT/NAME`, with the driver's parameters. */
  readonly url: string
  readonly limits: StoredLimits
  /** Milliseconds that checked logins and keys go on while the database is away. */
  readonly graceMs?: number
}

/** Opens the storage in a PostgreSQL database, see `openStorage`. A store is loaded at its first use. */
export async function openPostgresStorage(settings: PostgresSettings, use: StorageUse) {
  return openStorageOn(openDatabase(settings.url), settings, use)
}

/** The same on a database that is open already, which is closed with it. */
export async function openStorageOn(db: Database, settings: Omit<PostgresSettings, 'url'>, use: StorageUse) {
  const changes = createChanges(db, settings)
  try {
    const opened = await openParts(db, changes, settings, use)
    if (use.service) changes.watch()
    return storageOf(db, changes, settings, opened)
  } catch (reason) {
    await db.close()
    throw startFailure(reason, db.name)
  }
}

/** Brings the schema to its newest version and makes the database this installation's; a reader does neither. */
async function openParts(db: Database, changes: OwnChanges, settings: Omit<PostgresSettings, 'url'>, use: StorageUse) {
  // One round trip where all is as it was.
  const [found, isMigrated] = await Promise.all([
    refuseMistaken(db, settings),
    isNewest(db, { expectsNewer: expectsNewer(use) }),
  ])
  const mayWrite = !use.readOnly && use.create !== false
  if (mayWrite && !isMigrated) await migrate(db)
  const id = mayWrite ? await joinInstallation(db, settings, found) : (found?.id ?? '')
  if (use.readOnly || (!mayWrite && !isMigrated)) return { id, plugins: openPluginFiles(settings) }
  // In this order: the plugins are then as new as the marks.
  const [, plugins] = await Promise.all([
    changes.ask(),
    openPlugins({ db, changes, bundledPlugins: settings.bundledPlugins }),
  ])
  return { id, plugins }
}

interface OpenParts {
  readonly id: string
  readonly plugins: PluginStore
}

function storageOf(
  db: Database,
  changes: OwnChanges,
  settings: Pick<PostgresSettings, 'limits' | 'folder'>,
  { id, plugins }: OpenParts,
) {
  const lease = createProcessLease(db)
  const driver = createPostgresDriver(db, changes)
  const { limits } = settings
  const context: Context = { db, driver, changes, limits, lease }
  const lazily: Lazily = (load) => atFirstUse(async () => translating(await load()))
  return {
    ...openStores(lazily, driver, {
      limits,
      processes: lease,
      isOfOneMachine: false,
      loadConversationText: async () => (await import('./conversations-text.ts')).conversationText,
      loadResponseParts: async () => (await import('./responses-parts.ts')).createResponseParts(context),
    }),
    memories: lazily(async () => (await import('./memories.ts')).createMemoryStore(context)),
    packages: lazily(async () => (await import('./packages.ts')).createPersonaArchive(context)),
    backupFiles: lazily(async () =>
      (await import('./backup-files.ts')).createBackupFiles(context, join(settings.folder, 'backups')),
    ),
    plugins,
    changes,
    shared: {
      id,
      name: db.name,
      isAway: changes.grace.isAway,
      isUsable: changes.isUsable,
      onAway: changes.onAway,
      onChange: changes.onChange,
    },
    hasLimits: changes.hasLimits,
    size: async () => {
      try {
        return await storedSize(db)
      } catch (reason) {
        throw translated(reason)
      }
    },
    async check() {
      try {
        return await (await import('./check.ts')).checkDatabase(db)
      } catch (reason) {
        throw translated(reason)
      }
    },
    patiently,
    deferCleanup: () => deferCleanup(db),
    async close() {
      lease.close()
      await changes.close()
      await db.close()
    },
  }
}

/** Reads sums that are kept as rows are written: a row for each user, however much is stored. The log is the server's. */
async function storedSize(sql: Sql): Promise<StoredSize> {
  const sums = await sql.row<Omit<StoredSize, 'logBytes'>>(
    `SELECT (SELECT count(*) FROM account) AS users, (SELECT count(*) FROM persona_usage) AS personas,
       coalesce(sum(memories), 0) AS memories, coalesce(sum(bytes), 0) AS "personaBytes",
       pg_database_size(current_database()) AS "databaseBytes" FROM user_usage`,
  )
  return { ...sums!, logBytes: 0 }
}
