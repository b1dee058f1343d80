import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../errors.ts'
import { counted } from '../../../formats/formats.ts'
import type { LeftOut } from './attachment.ts'
import { shownName } from './delimited.ts'
import { type IgnoreRules, isIgnored, rulesAbove, rulesBelow } from './git-ignore.ts'

export interface Walked {
  /** Paths below the folder, with `/`, in the order of their code units. */
  readonly paths: readonly string[]
  readonly leftOut: readonly LeftOut[]
}

export interface WalkOptions {
  /** The folder's name in messages, and before the names of files left out. */
  readonly shown: string
  /** Whether hidden files and folders are taken too. */
  readonly hidden: boolean
  readonly signal: AbortSignal
  /** Folders and files that are looked at, also those left out; 100,000 by default: a folder of packages has some ten thousand. */
  readonly most?: number
}

/**
 * Finds the files below a folder, an absolute path, without those that .gitignore leaves out, `.git`, and symbolic links: a
 * link in a folder of another's making could lead to any file of this user. Throws `too_large` for a folder with too many
 * entries, `no_input` for one that cannot be read.
 */
export async function walk(root: string, { shown, hidden, signal, most = 100_000 }: WalkOptions): Promise<Walked> {
  const paths: string[] = []
  const leftOut: LeftOut[] = []
  const counts = { hidden: 0, ignored: 0 }
  let entries = 0
  await visit('', await rulesAbove(root))
  const reasons = [
    ...(counts.ignored > 0 ? [`${counted(counts.ignored, 'entry', 'entries')} that .gitignore names`] : []),
    ...(counts.hidden > 0 ? [counted(counts.hidden, 'hidden entry', 'hidden entries')] : []),
  ]
  if (reasons.length > 0) leftOut.unshift({ name: shown, reason: reasons.join(' and ') })
  return { paths: paths.sort(), leftOut }

  async function visit(below: string, above: IgnoreRules): Promise<void> {
    const found = await entriesOf(below)
    const hasRules = found.some(({ name }) => name === '.gitignore')
    const rules = hasRules ? await rulesBelow(above, join(root, below)) : above
    for (const entry of found) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.name === '.git') continue
      if (entry.name.startsWith('.') && !hidden) counts.hidden++
      else if (isIgnored(rules, join(root, path), entry.isDirectory())) counts.ignored++
      else if (entry.isDirectory()) await visit(path, rules)
      else if (entry.isFile()) paths.push(path)
      else leftOut.push({ name: join(shown, path), reason: entry.isSymbolicLink() ? 'a symbolic link' : 'no file' })
    }
  }

  async function entriesOf(below: string): Promise<readonly Dirent[]> {
    const found: Dirent[] = []
    try {
      for await (const entry of await opendir(join(root, below), { bufferSize: 256 })) {
        signal.throwIfAborted()
        if (++entries > most)
          throw new AppError('too_large', `${shownName(shown)} holds more than ${most} files`, {
            details: ['Name a smaller folder, or list generated files and packages in .gitignore'],
          })
        found.push(entry)
      }
    } catch (reason) {
      if (reason instanceof AppError || signal.aborted) throw reason
      if (below === '') throw new AppError('no_input', `Cannot read ${shownName(shown)}`, { cause: reason })
      leftOut.push({ name: join(shown, below), reason: 'it cannot be read' })
    }
    return found
  }
}
