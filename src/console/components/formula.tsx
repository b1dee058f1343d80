import { useEffect, useRef, useState } from 'preact/hooks'

interface Library {
  __renderToMathMLTree(source: string, options: object): { toNode(): Node }
}

let loaded: Promise<Library> | undefined

/** The largest length in a formula, in em, and how often its macros may be replaced: a hostile one does not fill the page. */
const bounds = { maxSize: [20, 100] as [number, number], maxExpand: 200 }

/** A formula in TeX as MathML, which browsers draw and screen readers read; its source until the library is there, and where it is wrong. */
export function Formula({ source, isBlock }: { readonly source: string; readonly isBlock: boolean }) {
  const place = useRef<HTMLElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const draw = (library: Library) => {
      const element = place.current
      if (!isCurrent || !element) return
      try {
        const tree = library.__renderToMathMLTree(source, { displayMode: isBlock, throwOnError: true, ...bounds })
        element.replaceChildren(tree.toNode())
        setDrawn(true)
      } catch {
        element.replaceChildren()
        setDrawn(false)
      }
    }
    loaded ??= import('temml').then((library) => library.default as unknown as Library)
    void loaded.then(draw, () => {
      loaded = undefined
    })
    return () => {
      isCurrent = false
    }
  }, [source, isBlock])
  return (
    <span class={isBlock ? 'formula block' : 'formula'}>
      <span ref={place} />
      {!isDrawn && <code>{source}</code>}
    </span>
  )
}
