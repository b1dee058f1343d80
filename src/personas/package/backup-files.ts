import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { holder, holderPattern, isHeld } from './holders.ts'

/** The files of backups in one folder. A file is pending, under its process's name, until its row is in the database. */
export interface BackupFiles {
  /** The path at which a backup is to be written; creates the folder. */
  pending(backupId: string): string
  /** The path of a backup, published or still pending in another process; it need not exist. */
  find(backupId: string): string
  /** Makes the folder durable after a pending file was written: returns the file's size in bytes. */
  flush(backupId: string): number
  /** Gives a pending file its final name. */
  publish(backupId: string): void
  /** Removes a pending file. */
  discard(backupId: string): void
  /** Removes a published file. */
  remove(backupId: string): void
  /**
   * Removes files without a row: of removed personas, and of a process that was killed while it wrote one. A pending file
   * with a row is whole (its process was killed before it was published) and is published.
   */
  sweep(isKnown: (backupId: string) => Promise<boolean>): Promise<void>
}

const ending = '.dna.zip'

/** Milliseconds for which a file without row and holder is kept: an aichat of an earlier version may be writing it. */
const orphanAge = 3_600_000

export function openBackupFiles(folder: string): BackupFiles {
  const finalPath = (backupId: string) => join(folder, `${backupId}${ending}`)
  const pendingPath = (backupId: string) => join(folder, `${holder()}.${backupId}${ending}`)
  return {
    pending(backupId) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return pendingPath(backupId)
    },
    find(backupId) {
      if (existsSync(finalPath(backupId)) || !existsSync(folder)) return finalPath(backupId)
      const pending = readdirSync(folder).find((name) => name.endsWith(`.${backupId}${ending}`))
      return pending === undefined ? finalPath(backupId) : join(folder, pending)
    },
    flush(backupId) {
      flushFolder(folder)
      return statSync(pendingPath(backupId)).size
    },
    publish(backupId) {
      renameSync(pendingPath(backupId), finalPath(backupId))
      flushFolder(folder)
    },
    discard: (backupId) => rmSync(pendingPath(backupId), { force: true }),
    remove: (backupId) => rmSync(finalPath(backupId), { force: true }),
    async sweep(isKnown) {
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        if (isHeld(name)) continue
        const path = join(folder, name)
        const [first = '', second = ''] = name.split('.')
        const isPending = holderPattern.test(name)
        const hasRow = await isKnown(isPending ? second : first)
        if (isPending && hasRow && name.endsWith(`${second}${ending}`)) renameSync(path, finalPath(second))
        else if (isPending || (!hasRow && ageOf(path) > orphanAge)) rmSync(path, { force: true })
      }
    },
  }
}

/** Milliseconds since a file was written; 0 for one that is gone. */
function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}

/** fsync of the folder: a file that the database names must be found in it after a power failure too. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
