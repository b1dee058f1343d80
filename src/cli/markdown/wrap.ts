import type { Glyph, Piece, Ruler } from './styled.ts'
import { lineOf } from './styled.ts'

/** A word: parts that stay on one line where they fit. */
interface Word {
  readonly parts: (Piece & Glyph)[]
  columns: number
}

/** Breaks pieces into lines of at most `width` columns, at spaces or wide characters, else within; `\n` ends one. */
export function wrap(pieces: readonly Piece[], width: number, ruler: Ruler): string[] {
  const lines: Piece[][] = [[]]
  let used = 0
  let gap: Piece[] = []
  let word: Word = { parts: [], columns: 0 }

  for (const { text, style } of pieces) {
    if (text === '\n') {
      place()
      next()
      continue
    }
    for (const part of text.match(/ +|[^ ]+/g) ?? []) {
      if (part.startsWith(' ')) {
        place()
        gap.push({ text: part, style })
      } else if (/^[\x21-\x7e]+$/.test(part)) add({ text: part, columns: part.length }, style)
      else
        for (const glyph of ruler.glyphs(part)) {
          // Chinese and Japanese have no spaces: a line may end beside each wide character.
          if (glyph.columns > 1) place()
          add(glyph, style)
          if (glyph.columns > 1) place()
        }
    }
  }
  place()
  return lines.map(lineOf)

  function add({ text, columns }: Glyph, style: string): void {
    word.parts.push({ text, style, columns })
    word.columns += columns
  }

  function next(): void {
    lines.push([])
    used = 0
    gap = []
  }

  function place(): void {
    const { parts, columns } = word
    if (parts.length === 0) return
    word = { parts: [], columns: 0 }
    const space = gap.reduce((sum, { text }) => sum + text.length, 0)
    if (used > 0 && used + space + columns > width) next()
    else if (used > 0 || lines.length === 1) {
      // Leading spaces are kept in the first line alone: code may begin with some.
      for (const piece of gap) put(piece.text, piece.style, piece.text.length)
    }
    gap = []
    for (const { text, style, columns } of parts) {
      if (columns <= 2 || used + columns <= width) put(text, style, columns)
      else for (const glyph of ruler.glyphs(text)) put(glyph.text, style, glyph.columns)
    }
  }

  function put(text: string, style: string, columns: number): void {
    if (columns > width && text.startsWith(' ')) return
    if (used + columns > width && used > 0) next()
    lines.at(-1)!.push({ text, style })
    used += columns
  }
}

/** Breaks a line of code into lines of `width` columns, which may be without a bound; its spaces stay. */
export function breakCode(pieces: readonly Piece[], width: number, ruler: Ruler): string[] {
  const lines: Piece[][] = [[]]
  let used = 0
  for (const { text, style } of pieces)
    for (const { text: glyph, columns } of ruler.glyphs(text)) {
      if (used + columns > width && used > 0) {
        lines.push([])
        used = 0
      }
      lines.at(-1)!.push({ text: glyph, style })
      used += columns
    }
  return lines.map(lineOf)
}
