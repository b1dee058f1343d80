import { constants, existsSync, rmSync, statSync } from 'node:fs'
import { copyFile, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../errors.ts'
import { makeFolder } from '../formats/formats.ts'
import { holder, isHeld } from '../process/process.ts'
import { type BackupTarget, byAge, keptOf } from './target.ts'

/** The name of an unfinished copy, which holds the id of its writer. */
const unfinished = /^\.aichat-backup\.(pid\d+-\d+)\./

/** Keeps backups in a folder, readable by their owner alone. The folder is made, the one that holds it is not: a disk may be absent. */
export function folderTarget(folder: string, options: { readonly makeParents: boolean }): BackupTarget {
  return {
    folder,
    async list() {
      const names = await readdir(folder).catch((reason: NodeJS.ErrnoException) => {
        if (reason.code === 'ENOENT') return []
        throw reason
      })
      return byAge(
        names.flatMap((name) => {
          const stat = statSync(join(folder, name), { throwIfNoEntry: false })
          const kept = stat?.isFile() ? keptOf(name, stat.size) : undefined
          return kept ? [kept] : []
        }),
      )
    },
    async put(file, name) {
      makeTarget(folder, options.makeParents)
      await sweep(folder)
      const temporary = join(folder, `.aichat-backup.${holder()}.${name}`)
      try {
        await copyFile(file, temporary, constants.COPYFILE_EXCL)
        const copy = await open(temporary, 'r+')
        await copy.chmod(0o600)
        await copy.sync()
        await copy.close()
        await rename(temporary, join(folder, name))
      } catch (reason) {
        await rm(temporary, { force: true })
        throw reason
      }
      const handle = await open(folder, 'r')
      await handle.sync().catch(() => undefined)
      await handle.close()
    },
    fileOf(name) {
      const path = join(folder, name)
      if (!existsSync(path)) throw new AppError('not_found', `Backup "${name}" not found in ${folder}`)
      return path
    },
    remove(name) {
      const path = join(folder, name)
      const there = existsSync(path)
      rmSync(path, { force: true })
      return there
    },
  }
}

function makeTarget(folder: string, makeParents: boolean): void {
  if (!makeParents && !existsSync(dirname(folder)))
    throw new AppError('configuration', `The folder of backups cannot be made: ${dirname(folder)} is not there`, {
      details: ['Check that its disk is mounted, or set another: aichat config set backup.target FOLDER'],
    })
  makeFolder(folder)
}

/** Removes the copies that killed processes left. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const holding = unfinished.exec(name)?.[1]
    if (holding !== undefined && !isHeld(holding)) await rm(join(folder, name), { force: true })
  }
}
