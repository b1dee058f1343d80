import MarkdownIt, { type Token } from 'markdown-it'
import { type ComponentChild, createElement } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CodeBlock } from './code-block.tsx'
import { loadEntities } from './entities.ts'
import { Formula } from './formula.tsx'
import { addFormulas } from './formula-rules.ts'
import { PlainText } from './plain-text.tsx'

/** Levels of blocks in each other: a text with more is shown as it is. */
const mostNested = 30

/** CommonMark with tables, bare links and formulas. Markup in the text stays text. */
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: mostNested })
// Names such as `main.py` are no addresses.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
addFormulas(parser)

/** The elements that a text may become. */
const elements = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote strong em s table thead tbody tr th td hr br code pre'.split(' '),
)

/** A text as elements of the page: no HTML of a model is ever parsed. */
export function MarkdownText({ text }: { readonly text: string }) {
  const [, setTables] = useState(0)
  useEffect(() => {
    // Without the table, names of characters are shown as they were written.
    loadEntities(text).then(
      (isNew) => isNew && setTables((times) => times + 1),
      () => undefined,
    )
  }, [text])
  const tokens = parser.parse(text, {})
  // The parser drops the inner parts of a text that nests too deep: it is shown as it is.
  if (tokens.some(({ level }) => level >= mostNested - 1)) return <PlainText text={text} />
  settleHeadings(tokens)
  settleTasks(tokens)
  return <>{nodesOf(tokens)}</>
}

/** Makes the headings of a text follow the one of the page, without a level left out. */
function settleHeadings(tokens: readonly Token[]): void {
  const above: number[] = []
  for (const token of tokens) {
    if (token.type !== 'heading_open') continue
    const level = Number(token.tag.slice(1))
    while (above.length > 0 && above.at(-1)! >= level) above.pop()
    above.push(level)
    token.tag = `h${Math.min(6, above.length + 1)}`
  }
}

interface Open {
  readonly token: Token
  readonly children: ComponentChild[]
}

function nodesOf(tokens: readonly Token[]): ComponentChild[] {
  const root: ComponentChild[] = []
  const stack: Open[] = []
  const add = (node: ComponentChild) => (stack.at(-1)?.children ?? root).push(node)
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] })
    else if (token.nesting === 0) add(leafOf(token))
    else {
      const closed = stack.pop()
      if (closed) add(elementOf(closed))
    }
  }
  return root
}

function elementOf({ token, children }: Open): ComponentChild {
  if (token.type === 'link_open') return linkOf(String(token.attrGet('href') ?? ''), children)
  // A tight list has paragraphs that are not shown as such.
  if (token.hidden || !elements.has(token.tag)) return <>{children}</>
  const start = token.tag === 'ol' ? token.attrGet('start') : null
  const alignment = /text-align:(center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1]
  const properties = {
    ...(start !== null && { start: Number(start) }),
    ...(alignment && { class: `aligned-${alignment}` }),
  }
  return createElement(token.tag, properties, ...children)
}

/** The box of a task list, in the place of `[ ] ` or `[x] ` at the beginning of an item. */
function settleTasks(tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    const text = tokens[at - 2]?.type === 'list_item_open' && token.type === 'inline' ? token.children?.[0] : undefined
    const box = text && /^\[([ xX])\] /.exec(text.content)
    if (!text || !box) continue
    text.content = text.content.slice(box[0].length)
    token.meta = { isDone: box[1] !== ' ' }
  }
}

function leafOf({ type, content, children, info, markup, meta }: Token): ComponentChild {
  const isDone = meta?.isDone === true
  switch (type) {
    case 'inline':
      return (
        <>
          {meta && <input type="checkbox" checked={isDone} disabled aria-label={isDone ? 'done' : 'to do'} />}
          {nodesOf(children ?? [])}
        </>
      )
    case 'formula':
      return <Formula source={content} isBlock={markup === '$$'} />
    case 'softbreak':
      return '\n'
    case 'hardbreak':
      return <br />
    case 'hr':
      return <hr />
    case 'code_inline':
      return <code>{content}</code>
    case 'fence':
    case 'code_block':
      return <CodeBlock code={content} language={info.trim().split(/\s/)[0]?.toLowerCase() ?? ''} />
    case 'image':
      // Pictures from other hosts would tell them that the answer is read.
      return <span>{content || 'a picture'}</span>
    default:
      return content
  }
}

function linkOf(address: string, children: ComponentChild[]): ComponentChild {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address)) return <>{children}</>
  return (
    <a href={address} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}
