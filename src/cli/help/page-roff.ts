import { type Block, blocksOf, inlineOf, type Token } from '../markdown/parse.ts'
import type { ManualPage } from './pages.ts'
import { escapeRoff } from './roff.ts'

/** A page of the manual in mdoc(7); `more` are lines after its text. Throws for Markdown that no page uses. */
export function pageRoff(page: ManualPage, others: readonly ManualPage[], more: readonly string[]): string {
  const [, ...blocks] = blocksOf(page.text, {})
  const related = others.filter(({ name }) => name !== page.name).map(({ name, section }) => `.Xr ${name} ${section}`)
  return `${[
    `'\\" t`,
    `.\\" Generated from ${page.name}.md.`,
    '.Dd $Mdocdate$',
    `.Dt ${page.name.toUpperCase()} ${page.section}`,
    '.Os',
    '.Sh NAME',
    `.Nm ${page.name}`,
    `.Nd ${escapeRoff(page.title)}`,
    '.Sh DESCRIPTION',
    ...blockLines(blocks),
    ...more,
    '.Sh SEE ALSO',
    ['.Xr aichat 1', ...related].join(' ,\n'),
  ].join('\n')}\n`
}

/** The lines of blocks, with a gap between two that follow each other. */
function blockLines(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block, at) => {
    const before = blocks[at - 1]?.type
    const opensItself = block.type === 'heading' || /_list$/.test(block.type) || block.type === 'fence'
    return [...(before === undefined || before === 'heading' || opensItself ? [] : ['.Pp']), ...linesOf(block)]
  })
}

function linesOf(block: Block): string[] {
  const { type, token, children } = block
  if (type === 'paragraph') return [textOf(children)]
  if (type === 'heading') return [`.Sh ${textOf(children).toUpperCase()}`]
  if (type === 'fence') return ['.Bd -literal -offset indent', escapeRoff(token.content.trimEnd()), '.Ed']
  if (type === 'bullet_list' || type === 'ordered_list') {
    return [
      `.Bl ${type === 'bullet_list' ? '-bullet' : '-enum'} -compact`,
      ...children.flatMap((item) => ['.It', ...blockLines(item.children)]),
      '.El',
    ]
  }
  if (type === 'table') return tableLines(block)
  throw new Error(`The manual has no ${type}`)
}

/** A table for tbl(1): its columns share the width of the page, and the text in them wraps. */
function tableLines({ children }: Block): string[] {
  const rows = children.flatMap(({ children: rows }) => rows)
  const cells = rows.map((row) => row.children.map((cell) => textOf(cell.children)))
  const columns = cells[0]!.length
  const formats = (style: string) => Array.from({ length: columns }, () => `l${style}x`).join(' ')
  const [head = [], ...body] = cells.map((row) => row.map((cell) => `T{\n${cell}\nT}`).join('\t'))
  return ['.TS', 'allbox;', formats('b'), `${formats('')}.`, String(head), ...body, '.TE']
}

function textOf(blocks: readonly Block[]): string {
  return (
    blocks
      .flatMap(({ token }) => inlineOf(token.content, {}))
      .map(inlineRoff)
      .join('')
      // A sentence of mdoc begins a line, and a line never begins with a request.
      .replace(/([.!?:]) (?=[A-Z])/g, '$1\n')
      .replace(/^ +/gm, '')
      .replace(/^([.'])/gm, '\\&$1')
  )
}

const fonts: Readonly<Record<string, string>> = {
  strong_open: '\\fB',
  strong_close: '\\fP',
  em_open: '\\fI',
  em_close: '\\fP',
  softbreak: '\n',
}

function inlineRoff(token: Token): string {
  if (token.type === 'code_inline') return `\\fB${escapeRoff(token.content)}\\fP`
  if (token.type === 'text' || token.type === 'text_special') return escapeRoff(token.content)
  // A page is named by the text of its link; an address follows it.
  if (token.type === 'link_open' || token.type === 'link_close') return ''
  const font = fonts[token.type]
  if (font === undefined) throw new Error(`The manual has no ${token.type}`)
  return font
}
