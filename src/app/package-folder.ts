import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../settings/settings.ts'

/** Folders that ship with the package, the same from the sources and from the build. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`./${name}/`, import.meta.resolve('#package')))
}

const shippedFiles = new Map<string, unknown>()

/** A JSON file below `src`, parsed at its first use; callers do not change it, and a test validates it. */
export function shippedFile<T>(path: string): T {
  if (!shippedFiles.has(path))
    shippedFiles.set(path, JSON.parse(readFileSync(join(packageFolder('src'), path), 'utf8')))
  return shippedFiles.get(path) as T
}

/** The folder of packages of personas that are received or sent right now. */
export function scratchFolder({ state }: Settings['paths']): string {
  return join(state, 'packages')
}
