import type MarkdownIt from 'markdown-it'

/** How a formula begins and ends, and whether it stands on lines of its own. */
const marks = [
  { open: '$$', close: '$$', isBlock: true },
  { open: '\\[', close: '\\]', isBlock: true },
  { open: '\\(', close: '\\)', isBlock: false },
  { open: '$', close: '$', isBlock: false },
] as const

/** Characters of the longest formula: the search for its end is bounded. */
const longest = 4000

interface Found {
  readonly source: string
  readonly isBlock: boolean
  /** Where the text goes on. */
  readonly end: number
}

/** Adds formulas as models write them: `$…$` and `\(…\)` within a line, `$$…$$` and `\[…\]` on lines of their own. */
export function addFormulas(parser: InstanceType<typeof MarkdownIt>): void {
  parser.inline.ruler.before('escape', 'formula', (state, silent) => {
    const found = formulaAt(state.src, state.pos)
    if (!found) return false
    if (!silent) Object.assign(state.push('formula', '', 0), { content: found.source, markup: markupOf(found) })
    state.pos = found.end
    return true
  })
  // As a block of its own, so that its lines are no list, heading or rule.
  parser.block.ruler.before(
    'fence',
    'formula',
    (state, startLine, endLine, silent) => {
      const start = state.bMarks[startLine]! + state.tShift[startLine]!
      const found = formulaAt(state.src, start)
      if (!found?.isBlock) return false
      let line = startLine
      while (line < endLine && state.eMarks[line]! < found.end) line++
      // Words behind it make it a part of a paragraph.
      if (line >= endLine || state.src.slice(found.end, state.eMarks[line]).trim() !== '') return false
      if (silent) return true
      state.line = line + 1
      const token = state.push('formula', '', 0)
      Object.assign(token, { content: found.source, markup: markupOf(found), block: true })
      return true
    },
    { alt: ['paragraph', 'blockquote', 'list'] },
  )
}

function markupOf({ isBlock }: Found): string {
  return isBlock ? '$$' : '$'
}

function formulaAt(text: string, at: number): Found | undefined {
  const mark = marks.find(({ open }) => text.startsWith(open, at))
  if (!mark) return undefined
  const { open, close, isBlock } = mark
  const piece = text.slice(at + open.length, at + open.length + longest)
  const length = close === '$' ? endOfInline(piece) : piece.indexOf(close)
  if (length <= 0 || /\n[ \t]*\n/.test(piece.slice(0, length))) return undefined
  return { source: piece.slice(0, length).trim(), isBlock, end: at + open.length + length + close.length }
}

/** Where `$…$` ends: not at an amount, as in "$5 and $6", which has a space before its sign or a digit behind it. */
function endOfInline(piece: string): number {
  if (/^\s/.test(piece)) return -1
  for (let at = piece.indexOf('$', 1); at > 0; at = piece.indexOf('$', at + 1)) {
    if (piece[at - 1] === '\\') continue
    const isEnd = !/[\s$]/.test(piece[at - 1]!) && !/[\d$]/.test(piece[at + 1] ?? ' ')
    return isEnd ? at : -1
  }
  return -1
}
