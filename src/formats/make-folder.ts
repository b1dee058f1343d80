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

/** Codes of the system for a path that no file can have, since what should be a folder in it is none. */
const unusablePaths = new Set(['ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** Whether a failed call of the system says that a part of the path is no folder and cannot become one. */
export function isUnusablePath(reason: unknown): boolean {
  return unusablePaths.has(String((reason as NodeJS.ErrnoException | null)?.code))
}

/** The reason in words why a folder cannot be made, from the error that the system gave. */
export function whyNoFolder(reason: unknown): string {
  const { code = '' } = reason as NodeJS.ErrnoException
  const words: Record<string, string> = {
    ENOENT: 'the system allows none there',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EEXIST: 'a file, or a link that leads nowhere, is in its place',
    ENOTDIR: 'part of its path is not a folder',
    ELOOP: 'a link in its path leads back to itself',
    ENAMETOOLONG: 'its path or a name in it is too long',
    EROFS: 'the disk is read-only',
  }
  return words[code] ?? code
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
