import { readData } from '../shared/data.ts'
import { signs } from './signs.ts'

interface Tags {
  /** Tags of HTML and SSML; any other word in angle brackets is one where its closing tag is there too. */
  readonly names: readonly string[]
  /** Tags that begin a paragraph, a line or a cell. */
  readonly paragraphs: readonly string[]
  /** Elements with content that is not text for readers. */
  readonly hidden: readonly string[]
}

const { names, paragraphs, hidden } = readData<Tags>('text/tags.json')
const tagNames = new Set(names)

/** A comment, or a tag with its attributes; `a < b` and `a <b and c> d` are none. */
const markup =
  /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)((?:\s+[a-z_:@][\w:.@-]*(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?)*)\s*\/?>/giu

/**
 * Takes HTML out of a text: tags go, with the content of scripts and styles; blocks become paragraphs, cells of a table are
 * separated as those of Markdown are, and entities become their characters. Text without tags only has its entities read.
 */
export function dropMarkup(text: string): string {
  return readEntities(text.includes('<') ? dropTags(text) : text)
}

function dropTags(text: string): string {
  const closed = new Set([...text.matchAll(/<\/([a-z][\w-]{0,40})\s*>/giu)].map((found) => found[1]!.toLowerCase()))
  let kept = ''
  let from = 0
  /** The hidden element that is open. */
  let inside: string | undefined
  for (const found of text.matchAll(markup)) {
    const [whole, slash, tag, attributes = ''] = found
    const name = tag?.toLowerCase()
    if (name !== undefined && !isTag(name, attributes, closed)) continue
    if (inside === undefined) kept += text.slice(from, found.index) + (name ? breakOf(name, slash === '/') : '')
    from = found.index + whole.length
    if (inside === undefined && slash === '' && name && hidden.includes(name) && closed.has(name)) inside = name
    else if (slash === '/' && name === inside) inside = undefined
  }
  return inside === undefined ? kept + text.slice(from) : kept
}

/** A bare word as attribute is one only where HTML has such: `<b and c>` compares. */
function isTag(name: string, attributes: string, closed: ReadonlySet<string>): boolean {
  const bare = attributes.replace(/=\s*(?:"[^"]*"|'[^']*'|\S+)/g, '=').match(/[^\s=]+(?=\s|$)(?!\s*=)/g) ?? []
  if (
    bare.some(
      (word) =>
        !/^(?:disabled|checked|hidden|async|defer|controls|autoplay|loop|muted|open|required|readonly|selected|multiple|download|allowfullscreen|data-.*)$/i.test(
          word,
        ),
    )
  )
    return false
  return tagNames.has(name) || closed.has(name)
}

function breakOf(name: string, closing: boolean): string {
  if (name === 'br') return '\n\n'
  if (name === 'td' || name === 'th') return closing ? '' : ' | '
  return paragraphs.includes(name) ? '\n\n' : ''
}

function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}\d{0,2}));/giu, (whole, decimal, hex, name) => {
    if (name !== undefined) return signs.entities[name] ?? signs.entities[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : ''
  })
}
