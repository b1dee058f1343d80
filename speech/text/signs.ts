import { readData } from '../shared/data.ts'

interface Signs {
  /** Signs that are words, as English says them. Other signs are skipped and counted. */
  readonly names: Readonly<Record<string, string>>
  /** Latin letters that Unicode does not take apart into a plain one and a mark, in plain letters. */
  readonly letters: Readonly<Record<string, string>>
  /** Marks for a pause, and silent ones, in plain ASCII. */
  readonly marks: Readonly<Record<string, string>>
  /** The characters that entities of HTML stand for. */
  readonly entities: Readonly<Record<string, string>>
  /** The names of the Greek letters from alpha on; both forms of sigma have one. */
  readonly greek: readonly string[]
}

export const signs = readData<Signs>('text/signs.json')

/** The English name of a sign in any of its widths; undefined for other characters. */
export function signName(character: string): string | undefined {
  return signs.names[character] ?? signs.names[character.normalize('NFKC')]
}

/** The name of a Greek letter, as formulas have them; undefined for other characters. */
export function greekName(letter: string): string | undefined {
  const code = letter.toLowerCase().codePointAt(0)! - 0x3b1
  return /^\p{sc=Greek}$/u.test(letter) ? signs.greek[code] : undefined
}
