import type { Ruler } from '../markdown/styled.ts'

/** A text that is being edited, with the marks before its first line and before the others. */
export interface Edited {
  readonly text: string
  /** UTF-16 units before the cursor. */
  readonly cursor: number
  readonly mark: string
}

/** A text as rows of a terminal. */
export interface Layout {
  readonly rows: readonly string[]
  /** The row of the cursor, and the text before the cursor in it. */
  readonly cursorRow: number
  readonly before: string
}

/** The mark before the second line of a text and each further one. */
const nextMark = '. '

/** A tab as it is shown. */
const tab = '    '

/** Breaks a text into rows that are at most so many columns wide, two at least. */
export function layOut({ text, cursor, mark }: Edited, columns: number, ruler: Ruler): Layout {
  const rows: string[] = []
  let row = ''
  let width = 0
  let at = 0
  let place = { cursorRow: 0, before: '' }
  const widest = Math.max(2, columns)
  for (const [index, line] of text.split('\n').entries()) {
    row = ''
    width = 0
    add(index === 0 ? mark : nextMark)
    for (const glyph of ruler.glyphs(line)) {
      const shown = glyph.text === '\t' ? tab : glyph.text
      const wide = glyph.text === '\t' ? tab.length : glyph.columns
      if (width + wide > widest) breakRow()
      if (cursor >= at && cursor < at + glyph.text.length) place = { cursorRow: rows.length, before: row }
      row += shown
      width += wide
      at += glyph.text.length
    }
    // Behind a full row the cursor is in the next one.
    if (cursor === at && width >= widest) breakRow()
    if (cursor === at) place = { cursorRow: rows.length, before: row }
    rows.push(row)
    at += 1
  }
  return { rows, ...place }

  function add(marked: string): void {
    for (const { text: shown, columns: wide } of ruler.glyphs(marked)) {
      if (width + wide > widest) breakRow()
      row += shown
      width += wide
    }
  }

  function breakRow(): void {
    rows.push(row)
    row = ''
    width = 0
  }
}
