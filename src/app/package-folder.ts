import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../settings/settings.ts'

/** Folders that ship with the package, the same from the sources and from the build. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`./${name}/`, import.meta.resolve('#package')))
}

/** The folder of packages of personas that are received or sent right now. */
export function scratchFolder({ state }: Settings['paths']): string {
  return join(state, 'packages')
}
