import { AppError } from '../errors.ts'
import { databaseName, parseDatabaseUrl, type Settings } from '../settings/settings.ts'
import type { DatabaseCheck, DatabaseStatus, MovedFrom, MovedTo, TransferControl } from '../storage/storage.ts'
import { packageFolder } from './package-folder.ts'

export type { DatabaseCheck, DatabaseStatus, MovedFrom, MovedTo, TransferControl }

/** The database of the settings as an administrator looks at it: that of DATABASE_URL, else the data folder's. */
export async function databaseStatus({ paths, database }: Settings): Promise<DatabaseStatus> {
  const { postgresStatus, folderStatus } = await import('../storage/transfer/status.ts')
  return database ? postgresStatus(database.url, paths.data) : folderStatus(paths.data)
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

export interface MoveRequest {
  /** A URL, or `true` for that of DATABASE_URL. One of both is given. */
  readonly to?: string | true | undefined
  readonly from?: string | true | undefined
  /** A copy: the data folder stays in use. */
  readonly keep?: boolean | undefined
}

/**
 * Moves everything between the data folder and a PostgreSQL database. Throws `usage` for an invalid URL, which is never
 * repeated; `cannot_create` where the target is not empty; `busy` where a process uses the source.
 */
export async function moveDatabase(
  settings: Settings,
  { to, from, keep = false }: MoveRequest,
  control: TransferControl,
): Promise<MovedTo | MovedFrom> {
  if ((to === undefined) === (from === undefined))
    throw new AppError('usage', 'Give either --to or --from', {
      details: ['aichat db migrate --to postgres://USER:PASSWORD@HOST:PORT/NAME'],
    })
  const folder = settings.paths.data
  if (to !== undefined) {
    const { moveToPostgres } = await import('../storage/transfer/move-to.ts')
    return moveToPostgres({
      folder,
      url: urlOf(settings, '--to', to),
      keep,
      ...control,
    })
  }
  if (keep) throw new AppError('usage', '--keep goes with --to: a move from a database leaves it as it is')
  const { moveFromPostgres } = await import('../storage/transfer/move-from.ts')
  return moveFromPostgres({ folder, url: urlOf(settings, '--from', from!), ...control })
}

/** The shown name of the database of DATABASE_URL, where that is the one that data moved from. */
export function isStillSet({ database }: Settings, name: string): boolean {
  return database !== undefined && databaseName(database.url) === name
}

function urlOf({ database }: Settings, option: string, given: string | true): string {
  if (given === true) {
    if (database) return database.url
    throw new AppError('usage', `${option} has no URL, and DATABASE_URL is not set`, {
      details: [`aichat db migrate ${option} postgres://USER:PASSWORD@HOST:PORT/NAME`],
    })
  }
  const place = parseDatabaseUrl(given)
  if (typeof place === 'string') throw new AppError('usage', `The URL of ${option} ${place}`)
  return place.url
}
