import { fileURLToPath } from 'node:url'

/** Folders that ship with the package, the same from the sources and from the build. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`./${name}/`, import.meta.resolve('#package')))
}
