import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../formats/make-folder.ts'
import type { Launch } from './client.ts'
import { textOf, writeConfigFile } from './config/file.ts'
import { planFiles } from './files.ts'

/** A folder for one run of a client, which only the user can read. */
export interface Overlay {
  readonly folder: string
  /** Writes the files of a launch into it. */
  fill(launch: Launch): void
  remove(): void
}

/** Makes the folder. */
export function openOverlay(): Overlay {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-launch-'))
  return {
    folder,
    fill({ folder: content }) {
      if (!content) return
      // Files that are changed are copied; all others are the user's own.
      const own = content.files.map(({ path }) => path)
      if (content.links !== undefined) linkOthers(content.links, folder, own)
      for (const file of content.files) {
        const start = content.links === undefined ? file.path : join(content.links, file.path)
        const [plan] = planFiles([{ ...file, path: start }])
        writeConfigFile(join(folder, file.path), Buffer.from(textOf({ ...plan!.found, bytes: plan!.bytes })), 0o600)
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Links the entries of a folder but for some; makes a missing folder, so that files written there later stay. */
function linkOthers(from: string, to: string, without: readonly string[]): void {
  makeFolder(from)
  for (const name of readdirSync(from)) if (!without.includes(name)) symlinkSync(join(from, name), join(to, name))
}
