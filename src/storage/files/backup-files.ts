import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import type { BackupFiles, BackupRow } from '../../personas/personas.ts'
import { holder, holderPattern, isHeld } from '../../process/process.ts'

const ending = '.dna.zip'

/** Milliseconds for which a file without row and holder is kept: an aichat of an earlier version may be writing it. */
const orphanAge = 3_600_000

export interface BackupRows {
  isKnown(backupId: string): Promise<boolean>
  /** Changes a row of the checksum `expected` and calls `publish` in the same transaction; false for another checksum. */
  change(row: BackupRow, expected: string, publish: () => void): Promise<boolean>
}

/** Packages of backups as files in one folder. */
export function openBackupFiles(folder: string, { isKnown, change }: BackupRows): BackupFiles {
  const finalPath = (backupId: string) => join(folder, `${backupId}${ending}`)
  const find = (backupId: string) => findBackup(folder, backupId)
  return {
    pending: async (backupId) => pendingBackup(folder, backupId),
    async keep(backupId) {
      flushFolder(folder)
      return statSync(pendingBackup(folder, backupId)).size
    },
    async publish(backupId) {
      // Once its row is stored, another process may have rewritten it, and published it with that.
      if (!existsSync(pendingBackup(folder, backupId)) && existsSync(finalPath(backupId))) return
      renameSync(pendingBackup(folder, backupId), finalPath(backupId))
      flushFolder(folder)
    },
    discard: async (backupId) => rmSync(pendingBackup(folder, backupId), { force: true }),
    async open(backupId) {
      const path = find(backupId)
      return existsSync(path) ? { path, close() {} } : undefined
    },
    async exchange(pendingId, row, expected) {
      const pending = pendingBackup(folder, pendingId)
      try {
        return await change(row, expected, () => {
          renameSync(pending, finalPath(row.backup_id))
          // One that its process did not publish would take the place of the new one at a sweep.
          for (const name of readdirSync(folder))
            if (name.endsWith(`.${row.backup_id}${ending}`)) rmSync(join(folder, name), { force: true })
          flushFolder(folder)
        })
      } finally {
        rmSync(pending, { force: true })
      }
    },
    remove: async (backupId) => rmSync(finalPath(backupId), { force: true }),
    async sweep() {
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

/** The path of a backup that this process writes, in a folder that is made if need be. */
export function pendingBackup(folder: string, backupId: string): string {
  makeFolder(folder)
  return join(folder, `${holder()}.${backupId}${ending}`)
}

/** Removes pending files of processes that ended, where none of them is kept as a file. */
export function sweepPending(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (holderPattern.test(name) && !isHeld(name)) rmSync(join(folder, name), { force: true })
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

/** The path of a backup in a folder, also of one that its process did not publish any more; it need not exist. */
export function findBackup(folder: string, backupId: string): string {
  const path = join(folder, `${backupId}${ending}`)
  if (existsSync(path) || !existsSync(folder)) return path
  const pending = readdirSync(folder).find((name) => name.endsWith(`.${backupId}${ending}`))
  return pending === undefined ? path : join(folder, pending)
}
