import { z } from 'zod'
import type { listMemories, searchMemories } from '../operations/operations.ts'
import { isPinned } from '../personas/personas.ts'

/** A memory as the operations answer it. */
type Stored =
  | z.output<typeof listMemories.output>['memories'][number]
  | z.output<typeof searchMemories.output>['results'][number]

const text = z.string()

/** A memory in the answers of the tools. */
export const memoryRow = z.object({
  id: text.describe('Names the memory in memory_update and memory_forget'),
  content: text,
  time: text.describe('The time it speaks of, ISO 8601'),
  importance: z.number().min(0).max(1),
  category: z.exactOptional(text),
  speaker: z.exactOptional(text),
  source: z.exactOptional(text).describe('Where it came from, such as chat, or mcp:NAME for a client of this server'),
  pinned: z.exactOptional(z.literal(true)),
})
export type MemoryRow = z.output<typeof memoryRow>

/** The most characters of all memories in one answer; clients warn of those that hold more than some ten thousand tokens. */
const longestAnswer = 40_000

/** A memory as a row. */
export function rowOf({ id, content, timestamp, importance_score, metadata }: Stored): MemoryRow {
  return {
    id,
    content,
    time: new Date(timestamp).toISOString(),
    importance: importance_score,
    ...labelOf(metadata, 'category'),
    ...labelOf(metadata, 'speaker'),
    ...labelOf(metadata, 'source'),
    ...(isPinned(metadata) && { pinned: true }),
  }
}

function labelOf(metadata: Readonly<Record<string, unknown>>, name: 'category' | 'speaker' | 'source') {
  const value = metadata[name]
  return typeof value === 'string' && value !== '' ? { [name]: value.slice(0, 200) } : {}
}

/** The first memories with contents that fit into one answer together; at least one. */
export function fitting<T extends { readonly content: string }>(memories: readonly T[]): readonly T[] {
  let left = longestAnswer
  const end = memories.findIndex(({ content }) => {
    left -= content.length
    return left < 0
  })
  return end < 0 ? memories : memories.slice(0, Math.max(1, end))
}
