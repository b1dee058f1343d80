import { type Definitions, inlineOf, type Token } from './parse.ts'
import { type Piece, printable, sgr, styleBoth } from './styled.ts'

const emphasis: Readonly<Record<string, string>> = { em: sgr.italic, strong: sgr.bold, s: sgr.struck }

/** The text of a block in pieces. A link's address is shown behind its text, so that no text passes for another. */
export function piecesOf(text: string, style: string, known: Definitions): readonly Piece[] {
  const pieces: Piece[] = []
  const styles = [style]
  const links: { address: string; from: number }[] = []
  for (const token of inlineOf(text, known)) {
    const current = styles.at(-1)!
    const [, name = '', side] = /^(\w+?)(?:_(open|close))?$/.exec(token.type) ?? []
    if (side === 'close') {
      styles.pop()
      if (name === 'link') close(links.pop()!, styles.at(-1)!)
    } else if (side === 'open') {
      styles.push(styleBoth(current, name === 'link' ? sgr.underline : (emphasis[name] ?? '')))
      if (name === 'link') links.push({ address: attribute(token, 'href'), from: pieces.length })
    } else pieces.push(...leaf(token, current))
  }
  return pieces

  function close({ address, from }: { address: string; from: number }, style: string): void {
    const shown = pieces.slice(from).map((piece) => piece.text)
    const isShown = [address, address.replace(/^mailto:/, '')].includes(shown.join(''))
    if (address !== '' && !isShown) pieces.push({ text: ` (${address})`, style: styleBoth(style, sgr.dim) })
  }
}

function leaf(token: Token, style: string): readonly Piece[] {
  const { type, content } = token
  // A model that breaks a line means it: verses, addresses, lists without marks.
  if (/^(?:soft|hard)break$/.test(type) || (type === 'html_inline' && /^<br\s*\/?>$/i.test(content)))
    return [{ text: '\n', style }]
  if (type === 'code_inline') return [{ text: printable(content), style: styleBoth(style, sgr.cyan) }]
  if (type === 'image') {
    const address = attribute(token, 'src')
    const isShort = address !== '' && !address.startsWith('data:')
    return [
      { text: printable(content) || 'image', style: styleBoth(style, sgr.underline) },
      ...(isShort ? [{ text: ` (${address})`, style: styleBoth(style, sgr.dim) }] : []),
    ]
  }
  return [{ text: printable(content).replace(/ {2,}/g, ' '), style }]
}

function attribute(token: Token, name: string): string {
  return printable(String(token.attrGet(name) ?? ''))
}
