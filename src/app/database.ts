import type { Settings } from '../settings/settings.ts'
import type { CheckControl, DatabaseCheck } from '../storage/storage.ts'
import { packageFolder } from './package-folder.ts'

export type { CheckControl, DatabaseCheck }

/** Reads all of it. Throws `configuration` where it is damaged. */
export async function checkDatabase(settings: Settings, control: CheckControl): Promise<DatabaseCheck> {
  const { checkPostgres, checkFolder } = await import('../storage/transfer/check.ts')
  const { database, paths } = settings
  if (database) return checkPostgres({ url: database.url }, control)
  const bundledPlugins = packageFolder('plugins')
  const limits = { bytes: settings.limits.storedBytesPerUser, memories: settings.limits.storedMemoriesPerUser }
  return checkFolder({ folder: paths.data, bundledPlugins, limits }, control)
}
