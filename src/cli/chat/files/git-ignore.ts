import { open, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'

interface Layer {
  readonly base: string
  readonly rules: Ignore
}

/** The rules that hold in a folder, its own last: the last that says anything about a path decides. */
export type IgnoreRules = readonly Layer[]

/** The longest .gitignore that is read: bytes. */
const longestFile = 256 * 1024

/** The rules above a folder that the user names, up to its repository's root; none where they ignore the folder. */
export async function rulesAbove(folder: string): Promise<IgnoreRules> {
  const root = await repositoryOf(folder)
  if (root === undefined) return []
  const excluded = await layerOf(root, join(root, '.git', 'info', 'exclude'))
  let above: IgnoreRules = excluded ? [excluded] : []
  for (const each of foldersBetween(root, folder).slice(0, -1)) above = await rulesBelow(above, each)
  return isIgnored(above, folder, true) ? [] : above
}

/** The rules above, with those of a folder that has a .gitignore. */
export async function rulesBelow(above: IgnoreRules, folder: string): Promise<IgnoreRules> {
  const own = await layerOf(folder, join(folder, '.gitignore'))
  return own ? [...above, own] : above
}

/** Whether the rules leave a path out. Both are absolute. */
export function isIgnored(rules: IgnoreRules, path: string, isFolder: boolean): boolean {
  let ignored = false
  for (const { base, rules: own } of rules) {
    const below = relative(base, path).replaceAll('\\', '/')
    if (below === '' || below.startsWith('../')) continue
    const said = own.test(isFolder ? `${below}/` : below)
    if (said.ignored || said.unignored) ignored = said.ignored
  }
  return ignored
}

async function layerOf(base: string, file: string): Promise<Layer | undefined> {
  const lines = (await beginningOf(file))?.split(/\r?\n/).filter(isCheap)
  return lines?.length ? { base, rules: ignore().add(lines) } : undefined
}

/** Some stars in one part of a path make matching take their power: such a rule is left out, as are very long ones. */
function isCheap(line: string): boolean {
  const stars = line.split('/').map((part) => part.match(/\*+/g)?.length ?? 0)
  return line.length <= 1000 && Math.max(...stars) <= 3 && stars.filter((count) => count > 0).length <= 6
}

async function beginningOf(path: string): Promise<string | undefined> {
  try {
    // A pipe in the place of the file would never open.
    if (!(await stat(path)).isFile()) return undefined
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(longestFile), 0, longestFile, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await stat(join(at, '.git')).catch(() => undefined)) return at
    if (at === dirname(at)) return undefined
  }
}

/** The folders from the root to one below it, both included. */
function foldersBetween(root: string, folder: string): readonly string[] {
  return folder === root ? [root] : [...foldersBetween(root, dirname(folder)), folder]
}
