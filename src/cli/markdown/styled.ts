import { stripControls } from '../terminal/io.ts'
import { columnCounter } from '../terminal/table.ts'

/** A piece of a line in one style: Select Graphic Rendition parameters (ECMA-48, 8.3.117) such as `1;4`, or none. */
export interface Piece {
  readonly text: string
  readonly style: string
}

/** SGR parameters. Only the 16 colours of the terminal's own palette, which its user chose to be readable. */
export const sgr = {
  bold: '1',
  dim: '2',
  italic: '3',
  underline: '4',
  struck: '9',
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  magenta: '35',
  cyan: '36',
} as const

/** Both styles at once. */
export function styleBoth(one: string, other: string): string {
  return one === '' || other === '' || one === other ? one || other : `${one};${other}`
}

/** The line as a terminal gets it: each run of a style is switched on and off within the line. */
export function lineOf(pieces: readonly Piece[]): string {
  let line = ''
  let run: Piece = { text: '', style: '' }
  for (const piece of pieces) {
    if (piece.style === run.style) run = { text: run.text + piece.text, style: run.style }
    else {
      line += painted(run)
      run = piece
    }
  }
  return line + painted(run)
}

function painted({ text, style }: Piece): string {
  return style === '' || text === '' ? text : `\x1b[${style}m${text}\x1b[0m`
}

/** A text of the model as one printable line: no control characters, no line break. Entities may have made some. */
export function printable(text: string): string {
  return stripControls(text).replace(/[\t\r\n]/g, ' ')
}

/** A grapheme and the columns that it takes at most. */
export interface Glyph {
  readonly text: string
  readonly columns: number
}

export type Ruler = Awaited<ReturnType<typeof openRuler>>

/** The longest table of characters that were measured before. */
const mostKnown = 4_096

/** Loads the libraries that measure. */
export async function openRuler() {
  /** The columns that terminals show it in today. */
  const columns = await columnCounter(['\u00e9'])
  const segmenter = new Intl.Segmenter()
  const known = new Map<string, number>()

  return {
    columns,
    /**
     * The graphemes, each with the most columns that a terminal may give it: old ones show the parts of a joined emoji.
     */
    glyphs(text: string): readonly Glyph[] {
      if (/^[\x20-\x7e]*$/.test(text)) return [...text].map((character) => ({ text: character, columns: 1 }))
      return Array.from(segmenter.segment(text), ({ segment }) => ({ text: segment, columns: most(segment) }))
    },
  }

  function most(grapheme: string): number {
    const before = known.get(grapheme)
    if (before !== undefined) return before
    const apart = [...grapheme].reduce((sum, character) => sum + columns(character), 0)
    const widest = Math.max(apart, columns(grapheme))
    if (known.size >= mostKnown) known.clear()
    known.set(grapheme, widest)
    return widest
  }
}
