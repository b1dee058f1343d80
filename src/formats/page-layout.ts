/** A node of a page, as far as its text needs it. */
export interface PageNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly nodeValue: string | null
  readonly childNodes: Iterable<PageNode>
}

/** Elements with content that is no text of the page. */
const unread = new Set([
  'SCRIPT',
  'STYLE',
  'NOSCRIPT',
  'TEMPLATE',
  'HEAD',
  'TITLE',
  'SVG',
  'IFRAME',
  'OBJECT',
  'CANVAS',
])

/** Elements that stand on lines of their own, with an empty line around them. */
const paragraphs = new Set(
  'P DIV SECTION ARTICLE MAIN HEADER FOOTER NAV ASIDE BLOCKQUOTE PRE UL OL DL TABLE FIGURE FORM H1 H2 H3 H4 H5 H6 HR'.split(
    ' ',
  ),
)

/** Elements that begin a line. */
const lines = new Set(['LI', 'TR', 'DT', 'DD', 'FIGCAPTION', 'OPTION'])

/** The deepest nesting of elements: browsers cut it at 512, and reading the main part takes the square of it. */
const deepest = 600

/**
 * The text of a page in the order of its source: paragraphs apart, headings behind `#`, items behind `-`, the cells of a row
 * behind `|`, and preformatted text as it is. Addresses of links and pictures are left out. Throws a RangeError for a page
 * that nests too deep.
 */
export function plainText(root: PageNode | null): string {
  if (!root) return ''
  const pieces: string[] = []
  write(root, pieces, { keepsSpace: false, depth: 0 })
  return pieces
    .join('')
    .replace(/(?<![ \t])[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

interface Place {
  readonly keepsSpace: boolean
  readonly depth: number
}

function write(node: PageNode, pieces: string[], { keepsSpace, depth }: Place): void {
  if (depth > deepest) throw new RangeError('too deep')
  if (node.nodeType === 3) return writeText(node.nodeValue ?? '', pieces, keepsSpace)
  const name = node.nodeName.toUpperCase()
  if ((node.nodeType !== 1 && node.nodeType !== 9 && node.nodeType !== 11) || unread.has(name)) return
  breakBefore(name, pieces)
  const start = beginning(name)
  if (start !== '') pieces.push(start)
  const inside = { keepsSpace: keepsSpace || name === 'PRE', depth: depth + 1 }
  for (const child of node.childNodes) write(child, pieces, inside)
  if (name === 'BR' || lines.has(name)) pieces.push('\n')
  if (paragraphs.has(name)) pieces.push('\n\n')
}

/** Begins a line or a paragraph, unless the text is at the beginning of one, or of an item. */
function breakBefore(name: string, pieces: string[]): void {
  const last = pieces.at(-1) ?? '\n'
  if (last === '- ') return
  if (paragraphs.has(name)) pieces.push('\n\n')
  else if (lines.has(name) && !last.endsWith('\n')) pieces.push('\n')
}

function writeText(text: string, pieces: string[], keepsSpace: boolean): void {
  if (keepsSpace) return void pieces.push(text)
  const flat = text.replace(/\s+/g, ' ')
  const shown = /\s$/.test(pieces.at(-1) ?? '\n') ? flat.trimStart() : flat
  if (shown !== '') pieces.push(shown)
}

function beginning(name: string): string {
  const level = /^H([1-6])$/.exec(name)?.[1]
  if (level !== undefined) return `${'#'.repeat(Number(level))} `
  if (name === 'LI') return '- '
  return name === 'TD' || name === 'TH' ? ' | ' : ''
}
