import type { Settings } from '../settings/settings.ts'
import type { DatabaseCheck, DatabaseStatus, TransferControl } from '../storage/storage.ts'
import { packageFolder } from './package-folder.ts'

export type { DatabaseCheck, DatabaseStatus, TransferControl }

/** The database of the settings as an administrator looks at it: that of DATABASE_URL, else the data folder's. */
export async function databaseStatus({ paths, database }: Settings): Promise<DatabaseStatus> {
  const { postgresStatus, folderStatus } = await import('../storage/transfer/status.ts')
  return database ? postgresStatus(database.url) : folderStatus(paths.data)
}

/** Reads all of it. Throws `configuration` where it is damaged. */
export async function checkDatabase(settings: Settings, control: TransferControl): Promise<DatabaseCheck> {
  const { checkPostgres, checkFolder } = await import('../storage/transfer/check.ts')
  const { database, paths } = settings
  if (database) return checkPostgres({ url: database.url }, control)
  const bundledPlugins = packageFolder('plugins')
  const limits = { bytes: settings.limits.storedBytesPerUser, memories: settings.limits.storedMemoriesPerUser }
  return checkFolder({ folder: paths.data, bundledPlugins, limits }, control)
}
