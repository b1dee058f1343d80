/**
 * The two tiers of the suite. A file belongs to the first, which `npm test` runs, unless a line above its imports says why it
 * runs with `--all` only: `// With --all only: a browser.`, or with more words after a colon. `// Some with --all only: …` says so
 * of those tests that are declared by `test.whole` (`../helpers/suite.ts`).
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The reasons for which a file runs with `--all` only. Being slow or unsteady is none. */
export const reasons = [
  'a neural engine',
  'a browser',
  'a fault of PostgreSQL',
  'PostgreSQL',
  'a terminal',
  'a killed process',
  'a real client program',
  'a whole sample',
  'many processes',
] as const

export type Reason = (typeof reasons)[number]

const lines = {
  file: /^\/\/ With --all only: ([^.:]*)(?::[^.]*)?\.$/m,
  tests: /^\/\/ Some with --all only: ([^.:]*)(?::[^.]*)?\.$/m,
} as const

/**
 * The reason of a test file, or of some of its tests, from its text; undefined where there is none. Throws for a reason that is
 * not in the list.
 */
export function reasonOf(text: string, of: keyof typeof lines = 'file'): Reason | undefined {
  const named = lines[of].exec(text.slice(0, 2000))?.[1]
  const reason = reasons.find((reason) => reason === named)
  if (named !== undefined && !reason)
    throw new Error(`"${named}" is no reason to run with --all only; there are: ${reasons.join(', ')}`)
  return reason
}

/** Whether a line of the file's text gives it a process of its own: `// In a process of its own: it measures its memory.` */
export function isAlone(text: string): boolean {
  return /^\/\/ In a process of its own: [^.]+\.$/m.test(text.slice(0, 2000))
}

/** Says how many files a run of the first tier left out, and of how many some tests, by reason. */
export function leftOutNote(files: readonly Reason[], parts: readonly Reason[]): string {
  return `${files.length} files run with --all only: ${counted(files)}\nso do some tests of ${parts.length} files: ${counted(parts)}`
}

function counted(given: readonly Reason[]): string {
  return reasons
    .map((reason) => ({ reason, count: given.filter((one) => one === reason).length }))
    .filter(({ count }) => count > 0)
    .map(({ reason, count }) => `${reason} ${count}`)
    .join(', ')
}

/** The text of a test file: its source, since the compiled file has no comments; the file itself where there is none. */
export function sourceOf(root: string, folder: string, file: string): string {
  const source = join(root, 'test', file.replace(/\.js$/, '.ts'))
  return readFileSync(existsSync(source) ? source : join(folder, file), 'utf8')
}
