import type { ComponentChildren } from 'preact'
import { Icon } from '../../../components/icon.tsx'
import { Time } from '../../../components/time.tsx'
import { percent } from '../../../page/format.ts'
import type { FoundMemory, Memory } from '../../../wire/types.ts'

interface MemoryRowProps {
  readonly memory: Memory | FoundMemory
  readonly onOpen: () => void
  readonly children?: ComponentChildren
}

/** A memory in a list; it opens for reading and editing. */
export function MemoryRow({ memory, onOpen, children }: MemoryRowProps) {
  const { content, metadata, importance_score, timestamp } = memory
  const category = metadata['category']
  return (
    <div class="memory">
      <button type="button" class="memory-text text" onClick={onOpen}>
        {content.slice(0, longestShown)}
      </button>
      <p class="row muted">
        {isPinned(memory) && (
          <span class="row">
            <Icon name="pin" /> pinned
          </span>
        )}
        {typeof category === 'string' && category !== '' && <span class="line">{category}</span>}
        <span title={percent(importance_score)}>{importanceInWords(importance_score)}</span>
        <Time at={timestamp} />
      </p>
      {children}
    </div>
  )
}

/** Characters of a memory in a list, of which two lines are seen: a memory may hold 100 kB. */
const longestShown = 400

/** An importance from 0 to 1 as a person would call it. */
function importanceInWords(score: number): string {
  if (score < 0.25) return 'of little importance'
  if (score < 0.5) return 'of some importance'
  return score < 0.75 ? 'important' : 'very important'
}

/** Whether a memory is never evicted. */
export function isPinned({ metadata }: Pick<Memory, 'metadata'>): boolean {
  return metadata['pinned'] === true
}
