import { colourCode } from './code.ts'
import { piecesOf } from './inline.ts'
import type { Painting } from './painting.ts'
import type { Block } from './parse.ts'
import { lineOf, type Piece, printable, sgr, styleBoth } from './styled.ts'
import { tableLines } from './table.ts'
import { breakCode, wrap } from './wrap.ts'

/** The narrowest text next to the mark of a quote or a list: in less room the mark is left out. */
const narrowest = 8
/** The longest rule between blocks. */
const longestRule = 40

const headingStyles = [styleBoth(sgr.bold, sgr.underline), sgr.bold, styleBoth(sgr.bold, sgr.italic)] as const

/** Where blocks stand: the lines of the source, and the block before the first one. */
export interface Place {
  readonly source: readonly string[]
  /** The type of the block before; undefined at the beginning. */
  readonly before: string | undefined
  /** The number of the first item, where the list began earlier. */
  readonly firstNumber?: number | undefined
}

/** The lines of blocks. An empty line is where the source has one, and around headings. */
export function blockLines(blocks: readonly Block[], place: Place, painting: Painting): string[] {
  let { before } = place
  return blocks.flatMap((block, at) => {
    const lines = [
      ...(hasGap(block, before, place.source) ? [''] : []),
      ...linesOf(block, { ...place, firstNumber: at === 0 ? place.firstNumber : undefined }, painting),
    ]
    before = block.type
    return lines
  })
}

function hasGap({ type, lines: [from] }: Block, before: string | undefined, source: readonly string[]): boolean {
  if (before === undefined) return false
  return type === 'heading' || before === 'heading' || /^[\s>]*$/.test(source[from - 1] ?? 'x')
}

function linesOf(block: Block, place: Place, painting: Painting): readonly string[] {
  const { type, token, children } = block
  if (type === 'paragraph') return textLines(block, '', painting)
  if (type === 'heading') return textLines(block, headingStyles[Math.min(3, Number(token.tag.slice(1))) - 1]!, painting)
  if (type === 'fence' || type === 'code_block')
    return codeLines(token.content, token.info.trim().split(/\s+/)[0] ?? '', painting)
  if (type === 'hr') return [lineOf([{ text: '─'.repeat(Math.min(longestRule, painting.width)), style: sgr.dim }])]
  if (type === 'blockquote') {
    const mark = painting.width - 2 < narrowest ? [] : [{ text: '│ ', style: sgr.dim }]
    return beside(mark, mark, (within) => blockLines(children, { ...place, before: undefined }, within), painting)
  }
  if (type === 'bullet_list' || type === 'ordered_list') return listLines(block, place, painting)
  if (type === 'table') return tableLines(block, painting)
  return token.content
    .replace(/(?<!\n)\n+$/, '')
    .split('\n')
    .flatMap((line) => wrap([{ text: printable(line), style: sgr.dim }], painting.width, painting.ruler))
}

function textLines({ children }: Block, style: string, { width, ruler, known }: Painting): string[] {
  return wrap(piecesOf(children[0]?.token.content ?? '', style, known), width, ruler)
}

function codeLines(code: string, language: string, painting: Painting): readonly string[] {
  const colours = colourCode(language, painting.highlighter)
  const lines = code.replace(/\n$/, '').split('\n')
  return lines.flatMap((line) => breakCode(colours.next(line), painting.codeWidth, painting.ruler))
}

/** The number of a list's first item; undefined for a list without numbers. */
export function firstNumberOf({ type, token }: Block): number | undefined {
  return type === 'ordered_list' ? Number(token.attrGet('start') ?? 1) : undefined
}

function listLines(list: Block, place: Place, painting: Painting): readonly string[] {
  const first = place.firstNumber ?? firstNumberOf(list)
  return list.children.flatMap((item, at) => {
    const mark = first === undefined ? '• ' : `${first + at}. `
    const isNarrow = painting.width - mark.length < narrowest
    const lines = beside(
      isNarrow ? [] : [{ text: mark, style: sgr.dim }],
      isNarrow ? [] : [{ text: ' '.repeat(mark.length), style: '' }],
      (within) => blockLines(item.children, { ...place, firstNumber: undefined, before: undefined }, within),
      painting,
    )
    return at > 0 && hasGap(item, 'item', place.source) ? ['', ...lines] : lines
  })
}

/** Lines next to a mark: the first one, and the following ones. An empty list item is its mark. */
function beside(
  first: readonly Piece[],
  following: readonly Piece[],
  content: (painting: Painting) => readonly string[],
  painting: Painting,
): readonly string[] {
  const taken = first.reduce((sum, { text }) => sum + text.length, 0)
  const lines = content({ ...painting, width: painting.width - taken, codeWidth: painting.codeWidth - taken })
  return (lines.length > 0 ? lines : ['']).map((line, at) =>
    `${lineOf(at === 0 ? first : following)}${line}`.replace(/^ +$/, ''),
  )
}
