import { AppError } from '../../../errors.ts'

/** The words of a line as a shell reads them: quotes, backslashes, and `~/`. Throws `usage` for a quote that is not closed. */
export function shellWords(line: string, home: string): readonly string[] {
  const words: string[] = []
  for (const [written] of line.matchAll(/(?:[^\s"'\\]|\\[\s\S]|\\$|"(?:[^"\\]|\\[\s\S])*"|'[^']*'|["'])+/g)) {
    const open = written.replace(/\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*'/g, '')
    if (/["']/.test(open)) throw new AppError('usage', 'A quotation mark is not closed')
    words.push(unquoted(withHome(written, home)))
  }
  return words
}

/** The last word of a line as it is written, and where it begins; empty behind white space. */
export function lastWord(line: string): { readonly from: number; readonly written: string } {
  const [written = ''] = /(?:[^\s\\]|\\[\s\S]|\\$)*$/.exec(line) ?? []
  return { from: line.length - written.length, written }
}

/** A word without the quotes and backslashes of a shell; variables are not expanded. */
export function unquoted(written: string): string {
  return written.replace(
    /\\([\s\S])|"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'/g,
    (_all, escaped?: string, double?: string, single?: string) =>
      escaped ?? double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? '',
  )
}

/** A path as one word. */
export function quoted(path: string): string {
  return path.replace(/[\s"'\\]/g, '\\$&')
}

/** A path with `~` at its beginning replaced by the home folder; `~user` stays. */
export function withHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
}
