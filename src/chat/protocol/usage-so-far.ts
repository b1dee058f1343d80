import type { ChatChunk, ExtraContent, Usage } from './messages.ts'

/** The counts of an answer under way, which hold where it breaks off. A later event may set them again, unchunked. */
export interface UsageSoFar {
  usage: Usage
  extra_content?: ExtraContent | undefined
  /** Whether they hold for all of the answer, and not only up to the chunk that has them. */
  isWhole?: boolean
}

/** Where a chunk keeps them: no client sees it, and no copy in JSON has them. */
const soFar = Symbol('usage so far')

interface Counting {
  [soFar]?: UsageSoFar
}

/** Gives a chunk the counts that its event reported; the chunk itself is changed. */
export function withUsageSoFar(chunk: ChatChunk, counts: UsageSoFar): ChatChunk {
  ;(chunk as Counting)[soFar] = counts
  return chunk
}

/** The counts of a chunk's event; undefined where it had none. */
export function usageSoFar(chunk: ChatChunk): UsageSoFar | undefined {
  return (chunk as Counting)[soFar]
}
