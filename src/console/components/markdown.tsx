import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { PlainText } from './plain-text.tsx'

type Renderer = ComponentType<{ readonly text: string }>

let loaded: Renderer | undefined

/** Characters up to which a text is read again for each piece that comes: a longer one is plain until it is complete. */
const longestLive = 40_000
/** Characters above which a text stays plain. */
const longest = 200_000

/** A model's text with its Markdown; as plain text until the reader of Markdown is there. */
export function Markdown({ text, isWriting }: { readonly text: string; readonly isWriting: boolean }) {
  const [, setReady] = useState(loaded !== undefined)
  useEffect(() => {
    if (!loaded)
      void import('./markdown-tokens.tsx').then(({ MarkdownText }) => {
        loaded = MarkdownText
        setReady(true)
      })
  }, [])
  const Text = text.length <= (isWriting ? longestLive : longest) ? loaded : undefined
  return <div class="markdown text">{Text ? <Text text={text} /> : <PlainText text={text} />}</div>
}
