/** A node of a page, as far as its text needs it. */
export interface PageNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly nodeValue: string | null
  readonly childNodes: Iterable<PageNode>
}

/** Elements whose content is no text of the page. */
const unread = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'SVG', 'IFRAME', 'OBJECT', 'CANVAS'])

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
    .replace(/[ \t]+\n/g, '\n')
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
  const around = paragraphs.has(name) ? '\n\n' : lines.has(name) ? '\n' : ''
  pieces.push(around, beginning(name))
  if (name === 'BR') pieces.push('\n')
  const inside = { keepsSpace: keepsSpace || name === 'PRE', depth: depth + 1 }
  for (const child of node.childNodes) write(child, pieces, inside)
  pieces.push(around)
}

function writeText(text: string, pieces: string[], keepsSpace: boolean): void {
  if (keepsSpace) return void pieces.push(text)
  const flat = text.replace(/\s+/g, ' ')
  const before = pieces.findLast((piece) => piece !== '') ?? '\n'
  pieces.push(/\s$/.test(before) ? flat.trimStart() : flat)
}

function beginning(name: string): string {
  const level = /^H([1-6])$/.exec(name)?.[1]
  if (level !== undefined) return `${'#'.repeat(Number(level))} `
  if (name === 'LI') return '- '
  return name === 'TD' || name === 'TH' ? ' | ' : ''
}
