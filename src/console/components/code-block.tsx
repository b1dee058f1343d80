import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Copy } from './copy.tsx'

interface Highlighter {
  getLanguage(name: string): unknown
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { readonly value: string }
}

let loaded: Promise<Highlighter> | undefined
let highlighter: Highlighter | undefined

/** Characters of code above which it stays in one colour: it is read again for each piece that comes. */
const longestColoured = 20_000

/** A block of code with its language, a button that copies it, and colours once their library is there. */
export function CodeBlock({ code, language }: { readonly code: string; readonly language: string }) {
  const [isReady, setReady] = useState(highlighter !== undefined)
  const isColoured = language !== '' && code.length <= longestColoured
  useEffect(() => {
    if (!isColoured || highlighter) return
    loaded ??= import('highlight.js/lib/common').then((library) => library.default as Highlighter)
    // Without it the code has one colour.
    loaded.then(
      (library) => {
        highlighter = library
        setReady(true)
      },
      () => {
        loaded = undefined
      },
    )
  }, [isColoured])
  const coloured = useMemo(
    () =>
      isColoured && highlighter?.getLanguage(language)
        ? elementsOf(highlighter.highlight(code, { language, ignoreIllegals: true }).value)
        : code,
    [code, language, isColoured, isReady],
  )
  return (
    <div class="code-block">
      <div class="code-head">
        <span class="muted">{language.slice(0, 30)}</span>
        <Copy text={code} label="Copy code" isQuiet />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <pre tabIndex={0}>
        <code>{coloured}</code>
      </pre>
    </div>
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** The library's markup, which is text in `<span class="…">`, as elements: it is never parsed as HTML. */
function elementsOf(markup: string): ComponentChild[] {
  const stack: { readonly scope: string; readonly children: ComponentChild[] }[] = [{ scope: '', children: [] }]
  for (const [part, scope, entity] of markup.matchAll(/<span class="([^"]*)">|<\/span>|&([#\w]{1,8});|[^<&]+/g)) {
    if (scope !== undefined) stack.push({ scope, children: [] })
    else if (part === '</span>') {
      const { scope: closed, children } = stack.pop()!
      stack.at(-1)!.children.push(<span class={closed}>{children}</span>)
    } else stack.at(-1)!.children.push(entity === undefined ? part : (entities[entity] ?? part))
  }
  return stack[0]!.children
}
