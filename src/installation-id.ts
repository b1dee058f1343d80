import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The settings that say where an installation keeps its data. */
export interface InstallationPlace {
  readonly paths: { readonly data: string }
  /** Set where instances share a database. */
  readonly database: object | undefined
}

/**
 * An id that is the same in every process on this data folder, or on the database that instances share, and different for
 * every other one; undefined where there is none yet. It reveals nothing of the folder itself.
 */
export function installationId({ paths, database }: InstallationPlace): string | undefined {
  return database ? readInstallationMark(paths.data) : idOfFolder(paths.data)
}

/** The file of a data folder with the id of the installation that uses the shared database. */
export function installationMarkOf(dataFolder: string): string {
  return join(dataFolder, 'installation.id')
}

/** The id in that file; undefined where there is none. */
export function readInstallationMark(dataFolder: string): string | undefined {
  try {
    return readFileSync(installationMarkOf(dataFolder), 'utf8').trim() || undefined
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw reason
  }
}

function idOfFolder(dataFolder: string): string | undefined {
  const found = statSync(dataFolder, { bigint: true, throwIfNoEntry: false })
  if (!found) return undefined
  return createHash('sha256').update(`${found.dev}:${found.ino}`).digest('hex').slice(0, 32)
}
