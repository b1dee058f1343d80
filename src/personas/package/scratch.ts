import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { holder, isHeld } from './holders.ts'

/** A folder for files that live as long as one request. */
export interface Scratch {
  /** A path in the folder that is not there yet. */
  path(): string
  /** Notes a folder elsewhere that lives as long, so that it is removed too when this process is killed. */
  note(folder: string): { forget(): void }
}

/**
 * Opens a scratch folder, which only its owner may enter. What a process that was killed left in it is removed at once: it
 * is the plain text of what somebody said. What a process that runs is at is left to it.
 */
export function openScratch(folder: string, newId: () => string): Scratch {
  sweepScratch(folder)
  const path = (ending = '') => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return join(folder, `${holder()}.${newId()}${ending}`)
  }
  return {
    path: () => path(),
    note(noted) {
      const file = path(noteEnding)
      writeFileSync(file, noted, { mode: 0o600 })
      return { forget: () => rmSync(file, { force: true }) }
    },
  }
}

const noteEnding = '.note'

/** How a folder is named that may be noted: nothing else is removed, whatever a note says. */
export const notedFolder = '.aichat-export-'

/** Removes what processes left that run no more. */
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
