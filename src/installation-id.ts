import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'

/**
 * An id that is the same in every process on this data folder and different for every other folder of the machine;
 * undefined where the folder does not exist. It reveals nothing of the folder itself.
 */
export function installationId(dataFolder: string): string | undefined {
  const found = statSync(dataFolder, { bigint: true, throwIfNoEntry: false })
  if (!found) return undefined
  return createHash('sha256').update(`${found.dev}:${found.ino}`).digest('hex').slice(0, 32)
}
