import { piecesOf } from './inline.ts'
import type { Painting } from './painting.ts'
import type { Block } from './parse.ts'
import { lineOf, sgr } from './styled.ts'
import { wrap } from './wrap.ts'

/** The narrowest column of a table that is drawn as one. */
const narrowest = 6

type Align = 'left' | 'center' | 'right'

/** A table in lines: columns where they fit, else each row as a list of heading and cell. */
export function tableLines(table: Block, painting: Painting): readonly string[] {
  const rows = table.children.flatMap(({ children }) => children).map(({ children }) => children)
  const [headings = [], ...body] = rows
  const count = headings.length
  const room = painting.width - 3 * (count - 1)
  if (room < narrowest * count) return asRecords(headings, body, painting)
  const cells = rows.map((row) => headings.map((_, at) => cellPieces(row[at], painting, row === headings)))
  const natural = headings.map((_, at) =>
    Math.max(1, ...cells.map((row) => Math.max(...wrap(row[at]!, 10_000, painting.ruler).map(painting.ruler.columns)))),
  )
  const widths = fitted(natural, room)
  const aligned = headings.map(alignOf)
  const lines = cells.map((row) => {
    const wrapped = row.map((pieces, at) => wrap(pieces, widths[at]!, painting.ruler))
    const height = Math.max(...wrapped.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) =>
      wrapped
        .map((cell, at) => padded(cell[line] ?? '', widths[at]!, aligned[at]!, painting))
        .join(paint(' │ '))
        .trimEnd(),
    )
  })
  const [head = [], ...rest] = lines
  return [...head, paint(widths.map((width) => '─'.repeat(width)).join('─┼─')), ...rest.flat()]
}

function asRecords(headings: readonly Block[], body: readonly (readonly Block[])[], painting: Painting) {
  if (body.length === 0)
    return headings.flatMap((cell) => wrap(cellPieces(cell, painting, true), painting.width, painting.ruler))
  return body.flatMap((row, index) => [
    ...(index > 0 ? [paint('─'.repeat(Math.min(8, painting.width)))] : []),
    ...headings.flatMap((heading, at) =>
      wrap(
        [...cellPieces(heading, painting, true), { text: ': ', style: '' }, ...cellPieces(row[at], painting, false)],
        painting.width,
        painting.ruler,
      ),
    ),
  ])
}

function cellPieces(cell: Block | undefined, { known }: Painting, isHeading: boolean) {
  return piecesOf(cell?.children[0]?.token.content ?? '', isHeading ? sgr.bold : '', known)
}

/** The widths within the room: the widest columns are narrowed to the same width. */
function fitted(natural: readonly number[], room: number): readonly number[] {
  const sum = (most: number) => natural.reduce((all, width) => all + Math.min(width, most), 0)
  let most = Math.max(...natural)
  while (most > 1 && sum(most) > room) most--
  return natural.map((width) => Math.min(width, most))
}

function alignOf({ token }: Block): Align {
  const style = String(token.attrGet('style') ?? '')
  return style.includes('right') ? 'right' : style.includes('center') ? 'center' : 'left'
}

function padded(text: string, width: number, align: Align, { ruler }: Painting): string {
  const space = Math.max(0, width - ruler.columns(text))
  const before = align === 'left' ? 0 : align === 'right' ? space : Math.floor(space / 2)
  return `${' '.repeat(before)}${text}${' '.repeat(space - before)}`
}

function paint(text: string): string {
  return lineOf([{ text, style: sgr.dim }])
}
