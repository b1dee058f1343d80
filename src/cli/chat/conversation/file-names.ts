import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isPrintableLine } from '../../../formats/formats.ts'
import { homeFolder } from '../../../settings/settings.ts'
import type { CompletedWord } from '../../line/completion.ts'
import type { Cli } from '../../terminal/cli.ts'
import { quoted, unquoted, withHome } from './shell-words.ts'

/** Names of a folder that are completed. */
const mostNames = 1_000

/** Files and folders that begin as written, hidden ones only after a dot; none where the folder cannot be read. */
export async function fileNames(cli: Cli, written: string, isQuoted: boolean): Promise<readonly CompletedWord[]> {
  const plain = isQuoted ? unquoted(written) : written
  const at = plain.lastIndexOf('/') + 1
  const [folder, beginning] = [plain.slice(0, at), plain.slice(at)]
  const place = withHome(folder, homeOf(cli)) || '.'
  const entries = await readdir(place, { withFileTypes: true }).catch(() => [])
  const found = entries
    .filter(({ name }) => name.startsWith(beginning) && (beginning.startsWith('.') || !name.startsWith('.')))
    .filter(({ name }) => isPrintableLine(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, mostNames)
  return Promise.all(
    found.map(async (entry) => {
      const isFolder =
        entry.isDirectory() ||
        (entry.isSymbolicLink() && (await stat(join(place, entry.name)).catch(() => undefined))?.isDirectory() === true)
      const end = isFolder ? '/' : ''
      const text = `${folder}${entry.name}`
      return { text: `${isQuoted ? quoted(text) : text}${end}`, shown: `${entry.name}${end}`, goesOn: isFolder }
    }),
  )
}

/** The user's home folder. */
export function homeOf({ io }: Cli): string {
  return homeFolder(io.environment)
}
