import MarkdownIt, { type Env, type Token } from 'markdown-it'

export type { Token }

/** The link definitions that were read so far. */
export type Definitions = Env

export interface Block {
  readonly type: string
  readonly token: Token
  /** Its lines in the source: the first, and the one behind the last. */
  readonly lines: readonly [number, number]
  readonly children: readonly Block[]
}

/** The longest text of a block that is read for emphasis and links, in characters; a longer one is shown as it is. */
const longestInline = 5_000

/** CommonMark with tables and struck text; content nested more than 100 deep is left out. */
const parser = new MarkdownIt({ html: true })

/** The blocks of a text; definitions in it are added to `known`. */
export function blocksOf(source: string, known: Definitions): readonly Block[] {
  const tokens: Token[] = []
  parser.block.parse(source, parser, known, tokens)
  return nested(tokens)
}

/** The inline tokens of a block's text. */
export function inlineOf(text: string, known: Definitions): readonly Token[] {
  const tokens: Token[] = []
  if (text.length > longestInline) return [{ type: 'text', content: text } as Token]
  parser.inline.parse(text, parser, known, tokens)
  return tokens
}

function nested(tokens: readonly Token[]): readonly Block[] {
  const stack: { token: Token; children: Block[] }[] = []
  const top: Block[] = []
  const add = (token: Token, children: readonly Block[]) => {
    const [from, to] = token.map ?? [0, 0]
    const block = { type: token.type.replace(/_open$/, ''), token, lines: [from, to] as const, children }
    ;(stack.at(-1)?.children ?? top).push(block)
  }
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] })
    else if (token.nesting === 0) add(token, [])
    else {
      const { token: opening, children } = stack.pop()!
      add(opening, children)
    }
  }
  return top
}
