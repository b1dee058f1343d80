import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps {
  readonly label: string
  readonly total: number
  /** Every row has this height: pixels. */
  readonly rowHeight: number
  /** The row of an index; it may show that it is on its way. */
  readonly row: (index: number) => ComponentChildren
  /** Called which rows are seen. */
  readonly onRange?: (first: number, last: number) => void
}

/** Rows above and below the seen ones that are drawn too, so that a flick shows no gap. */
const spare = 8

/** A list of any length in a frame that scrolls: only the rows in sight are in the page. */
export function VirtualList({ label, total, rowHeight, row, onRange }: VirtualListProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ first: 0, last: 30 })
  const measure = () => {
    const element = frame.current
    if (!element) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - spare)
    const last = Math.min(total - 1, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + spare)
    setRange((now) => (now.first === first && now.last === last ? now : { first, last }))
    onRange?.(first, last)
  }
  useEffect(measure, [total, rowHeight])
  const indices = Array.from({ length: Math.max(0, range.last - range.first + 1) }, (_, at) => range.first + at)
  return (
    <section
      ref={frame}
      class="virtual"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={measure}
    >
      <ul class="virtual-rows" style={{ height: `${total * rowHeight}px` }}>
        {indices
          .filter((index) => index < total)
          .map((index) => (
            <li
              key={index}
              class="virtual-row"
              aria-setsize={total}
              aria-posinset={index + 1}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
            >
              {row(index)}
            </li>
          ))}
      </ul>
    </section>
  )
}
