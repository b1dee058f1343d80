import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from './atomic.ts'

/** The file of a data folder that names the installation whose shared database it goes with. */
export function installationMarkOf(folder: string): string {
  return join(folder, 'installation.id')
}

/** The id in that file; undefined where there is none. */
export function readInstallationMark(folder: string): string | undefined {
  try {
    return readFileSync(installationMarkOf(folder), 'utf8').trim() || undefined
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw reason
  }
}

/** Writes it, durably. */
export function writeInstallationMark(folder: string, id: string): void {
  replaceFile(installationMarkOf(folder), `${id}\n`)
}
