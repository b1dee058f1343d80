import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { holder, isHeld } from '../../process/process.ts'

/** A folder for files of one request. */
export type Scratch = ReturnType<typeof openScratch>

/** Opens a scratch folder for its owner alone, and removes the files of killed processes, which hold plain text. */
export function openScratch(folder: string, newId: () => string) {
  sweepScratch(folder)
  const path = (ending = '') => {
    makeFolder(folder)
    return join(folder, `${holder()}.${newId()}${ending}`)
  }
  return {
    /** A path in the folder that is not there yet. */
    path: () => path(),
    /** Notes a folder beside an export: it is swept too if this process is killed. */
    note(noted: string): { forget(): void } {
      const file = path(noteEnding)
      writeFileSync(file, noted, { mode: 0o600 })
      return { forget: () => rmSync(file, { force: true }) }
    },
  }
}

const noteEnding = '.note'

/** The prefix of folders that may be noted: a sweep removes no other folder. */
export const notedFolder = '.aichat-export-'

/** Removes the files and noted folders of processes that ended. */
export function sweepScratch(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (isHeld(name)) continue
    const path = join(folder, name)
    if (name.endsWith(noteEnding)) removeNoted(path)
    rmSync(path, { recursive: true, force: true })
  }
}

function removeNoted(note: string): void {
  const folder = readFileSync(note, 'utf8')
  if (isAbsolute(folder) && basename(folder).startsWith(notedFolder)) rmSync(folder, { recursive: true, force: true })
}
