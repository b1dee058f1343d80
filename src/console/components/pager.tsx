import { Button } from './button.tsx'

interface PagerProps {
  readonly offset: number
  readonly size: number
  readonly hasMore: boolean
  /** Where the page stands among all. */
  readonly place?: string
  readonly onOffset: (offset: number) => void
}

/** Steps through the pages of a list; nothing where it has one page. */
export function Pager({ offset, size, hasMore, place, onOffset }: PagerProps) {
  if (offset === 0 && !hasMore) return null
  return (
    <div class="buttons">
      <Button isDisabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - size))}>
        Previous
      </Button>
      {place !== undefined && <span class="muted">{place}</span>}
      <Button isDisabled={!hasMore} onClick={() => onOffset(offset + size)}>
        Next
      </Button>
    </div>
  )
}
