import { readFile, stat } from 'node:fs/promises'
import { AppError } from '../../../src/errors.ts'
import { type Lexicon, parseLexicon } from './lexicon.ts'

/** Bytes of a lexicon's file. */
const largestFile = 2 * 1024 * 1024

/** Reads a lexicon from a file, again when that changes. Throws `invalid` for one that is not there, too large or wrong. */
export function createLexiconReader(path: string | undefined): () => Promise<Lexicon | undefined> {
  let known: { readonly stamp: string; readonly lexicon: Lexicon } | undefined
  return async () => {
    if (!path) return undefined
    try {
      const { mtimeMs, size } = await stat(path)
      const stamp = `${mtimeMs} ${size}`
      if (known?.stamp === stamp) return known.lexicon
      if (size > largestFile) throw new AppError('invalid', 'Invalid lexicon: it is larger than 2 MiB')
      const lexicon = parseLexicon(await readFile(path, 'utf8'))
      known = { stamp, lexicon }
      return lexicon
    } catch (thrown) {
      if (thrown instanceof AppError)
        throw new AppError(thrown.code, thrown.message, { details: [`speech.lexicon is ${path}`], cause: thrown })
      throw new AppError('invalid', 'The lexicon cannot be read', {
        details: [`speech.lexicon is ${path}`],
        cause: thrown,
      })
    }
  }
}
