import { AppError } from '../../../src/errors.ts'
import { phonesOf } from './phones.ts'

/** How a word is said: in other words, or in sounds (ARPABET, as `T AH0 M EY1 T OW0`), for the engines that take them. */
export type Pronunciation = { readonly words: string } | { readonly phones: string }

interface Entry {
  readonly written: string
  readonly said: Pronunciation
}

export interface Lexicon {
  /** The longest entry that stands at a place in a text, between the ends of words. */
  find(text: string, at: number): { readonly written: string; readonly said: Pronunciation } | undefined
}

const mostEntries = 20_000
const longestLine = 400

/**
 * Reads a lexicon: a line is `word = words` or `word = /phonemes/` (IPA or ARPABET), `#` begins a remark. A word in small letters
 * stands for any case, another one for itself alone. What an entry says is not looked up again. Throws `invalid` with the line's number.
 */
export function parseLexicon(file: string): Lexicon {
  const entries: Entry[] = []
  for (const [index, line] of file.split(/\r?\n/).entries()) {
    const entry = line.trim()
    if (entry === '' || entry.startsWith('#')) continue
    const invalid = (reason: string) => new AppError('invalid', `Invalid lexicon: line ${index + 1} ${reason}`)
    if (entry.length > longestLine) throw invalid(`is longer than ${longestLine} characters`)
    if (entries.length >= mostEntries)
      throw invalid(`is one too many: ${mostEntries.toLocaleString('en')} entries are the most`)
    const [, written, words] = /^([^=]*[^=\s])\s*=\s*(\S.*)$/.exec(entry) ?? []
    if (!written || !words || !/[\p{L}\p{N}]/u.test(written)) throw invalid('has not the form "word = words"')
    const [, sounds] = /^\/(.+)\/$/.exec(words) ?? []
    const phones = sounds === undefined ? undefined : phonesOf(sounds)
    if (sounds !== undefined && phones === undefined) throw invalid(`has unknown phonemes: /${sounds}/`)
    if (phones && !/^\p{L}+$/u.test(written)) throw invalid('gives phonemes to more than one word of letters')
    entries.push({ written: written.normalize('NFC'), said: phones ? { phones } : { words } })
  }
  return lexiconOf(entries)
}

function lexiconOf(entries: readonly Entry[]): Lexicon {
  const said = new Map(entries.map(({ written, said }) => [written, said]))
  /** The lengths of the entries that begin with a token, the longest first: few, however many entries there are. */
  const lengths = new Map<string, readonly number[]>()
  for (const { written } of entries) {
    const start = startOf(written, 0).toLowerCase()
    const known = lengths.get(start) ?? []
    if (!known.includes(written.length))
      lengths.set(
        start,
        [...known, written.length].sort((one, other) => other - one),
      )
  }
  return {
    find(text, at) {
      for (const length of lengths.get(startOf(text, at).toLowerCase()) ?? []) {
        const written = text.slice(at, at + length)
        const found = said.get(written) ?? said.get(written.toLowerCase())
        if (found && !isWithinWord(text, at + length)) return { written, said: found }
      }
      return undefined
    },
  }
}

const startOfEntry = /[\p{L}\p{M}\p{N}]{1,60}|./suy

function startOf(text: string, at: number): string {
  startOfEntry.lastIndex = at
  return startOfEntry.exec(text)?.[0] ?? ''
}

function isWithinWord(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text[at - 1] ?? '') && /^[\p{L}\p{M}\p{N}]/u.test(text.slice(at, at + 2))
}
