import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing; one that is there stays as it is. Throws the system's error where
 * it cannot be made. Node's own `recursive` never ends where the system says ENOENT although the parent is there, as in /proc.
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    mkdirSync(path, { mode })
  } catch (reason) {
    const above = dirname(path)
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT' && above !== path && !existsSync(above)) {
      makeFolder(above, mode)
      makeFolder(path, mode)
    } else if (!isFolder(path)) throw reason
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
