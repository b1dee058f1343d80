import { z } from 'zod'
import { AppError } from '../errors.ts'
import {
  addMemory,
  editMemory,
  listMemories,
  removeMemory,
  searchMemories,
  showMemoryOwner,
} from '../operations/operations.ts'
import { maxContentLength } from '../personas/personas.ts'
import { fitting, memoryRow, rowOf } from './rows.ts'
import { type Seat, sourceOf } from './seat.ts'
import { personaState, stateOf } from './state.ts'

/** The hints about a tool, by which clients choose whether to ask their user. */
interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint: false
}

/** A tool of a persona's memory. */
export interface MemoryTool<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: I
  readonly output: O
  readonly annotations: Annotations
  // Method syntax on purpose: a field would not be assignable to the plain MemoryTool.
  run(seat: Seat, input: z.output<I>, client: string | undefined): Promise<z.input<O>>
}

function defineTool<I extends z.ZodType, O extends z.ZodType>(tool: MemoryTool<I, O>): MemoryTool<I, O> {
  return tool
}

const reads = { readOnlyHint: true, openWorldHint: false } as const

const id = z.string().min(1).max(200).describe('The id of a memory, as memory_search and memory_list give it')
const limit = z.number().int().min(1).max(50).describe('The most memories of the answer')
const category = z.string().max(200)
const content = z.string().min(1).max(maxContentLength)
const importance = z
  .number()
  .min(0)
  .max(1)
  .describe('From 0 to 1: 0.5 is usual, 0.9 for facts that must not be forgotten')

/** The number of memories in a page without a `limit`. */
const usualLimit = 10

const search = defineTool({
  name: 'memory_search',
  title: 'Search memories',
  description:
    'Searches the memories by words and by meaning, best first. Search before you answer a question about the user, their work or earlier talks. A score is the probability that the memory answers; those that are not relevant are weak.',
  input: z.strictObject({
    query: z.string().min(1).max(10_000).describe('A question or some words; times such as "last May" are understood'),
    limit: limit.default(usualLimit),
    category: z.exactOptional(category).describe('Only memories of this category'),
  }),
  output: z.object({
    memories: z.array(memoryRow.extend({ score: z.number(), relevant: z.boolean() })).max(50),
    left_out: z.int().min(0).max(50).describe('How many more were found, too long for one answer'),
    cut: z.exactOptional(z.literal(true)).describe('Too many long memories may match: some were not read'),
  }),
  annotations: reads,
  async run({ ask, persona }, input) {
    const { results, cut } = await ask(searchMemories, { id: persona.id, ...input })
    const shown = fitting(results)
    const memories = shown.map((found) => ({ ...rowOf(found), score: found.score, relevant: found.relevant }))
    return { memories, left_out: results.length - shown.length, ...(cut && { cut }) }
  },
})

const list = defineTool({
  name: 'memory_list',
  title: 'List recent memories',
  description: 'Lists memories, newest first, a page at a time. To find something, use memory_search.',
  input: z.strictObject({
    limit: limit.default(usualLimit),
    cursor: z.exactOptional(z.string().max(40)).describe('The next_cursor of the page before'),
    category: z.exactOptional(category).describe('Only memories of this category'),
  }),
  output: z.object({
    memories: z.array(memoryRow).max(50),
    next_cursor: z.exactOptional(z.string()).describe('Names the next page; absent at the end'),
  }),
  annotations: reads,
  async run({ ask, persona }, { cursor, ...input }) {
    const from = readCursor(cursor)
    const place = from && { before: from.timestamp + 1, offset: from.skipped }
    const page = await ask(listMemories, { id: persona.id, ...input, ...place })
    const shown = fitting(page.memories)
    const isMore = page.total > (from?.skipped ?? 0) + shown.length
    const next = isMore ? cursorAfter(shown, from) : undefined
    return { memories: shown.map(rowOf), ...(next !== undefined && { next_cursor: next }) }
  },
})

const add = defineTool({
  name: 'memory_add',
  title: 'Remember',
  description:
    'Remembers something for good: a fact, a preference, a decision, one per memory, in a full sentence that is understood without this conversation. The same content again renews the memory.',
  input: z.strictObject({
    content: content.describe('One fact in one or two sentences, with names in place of "he" or "it"'),
    importance: z.exactOptional(importance),
    category: z.exactOptional(category.min(1)).describe('A word to group by, such as work or family'),
  }),
  output: z
    .object({ memory: memoryRow, removed: z.int().min(0).max(1000) })
    .describe('The memory, and how many old ones were removed to make room'),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ ask, persona }, input, client) {
    const { evicted, ...stored } = await ask(addMemory, {
      id: persona.id,
      content: input.content,
      ...(input.importance !== undefined && { importance_score: input.importance }),
      metadata: { source: sourceOf(client), ...(input.category !== undefined && { category: input.category }) },
    })
    return { memory: rowOf(stored), removed: evicted.length }
  },
})

const update = defineTool({
  name: 'memory_update',
  title: 'Correct a memory',
  description:
    'Changes the given fields of one memory, such as a fact that is no longer true. Others stay as they are.',
  input: z
    .strictObject({
      id,
      content: z.exactOptional(content),
      importance: z.exactOptional(importance),
      pinned: z.exactOptional(z.boolean()).describe('A pinned memory is never removed to make room'),
    })
    .refine(({ id: _id, ...change }) => Object.keys(change).length > 0, 'give content, importance or pinned'),
  output: z.object({ memory: memoryRow }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ ask, persona }, { id: memory_id, content: text, importance: weight, pinned }) {
    const stored = await ask(editMemory, {
      id: persona.id,
      memory_id,
      ...(text !== undefined && { content: text }),
      ...(weight !== undefined && { importance_score: weight }),
      ...(pinned !== undefined && { metadata: { pinned: pinned || null } }),
    })
    return { memory: rowOf(stored) }
  },
})

const forget = defineTool({
  name: 'memory_forget',
  title: 'Forget',
  description: 'Removes one memory for good, by its id, also from the backups. Only when the user asks for it.',
  input: z.strictObject({ id }),
  output: z.object({
    forgotten: z.string(),
    may_remain_in: z.exactOptional(z.array(z.string())).describe('Where its words may still be; tell the user'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ ask, persona }, { id: memory_id }) {
    const { may_remain_in } = await ask(removeMemory, { id: persona.id, memory_id })
    return { forgotten: memory_id, ...(may_remain_in && { may_remain_in }) }
  },
})

const state = defineTool({
  name: 'persona_state',
  title: 'Show what was learned',
  description: 'Shows what the persona has learned about how the user likes to be answered: preferences and traits.',
  input: z.strictObject({}),
  output: personaState,
  annotations: reads,
  run: async ({ ask, persona }) => stateOf(await ask(showMemoryOwner, { id: persona.id })),
})

/** All tools, in the order in which clients list them. */
export const memoryTools: readonly MemoryTool[] = [search, list, add, update, forget, state]

/** A place in a list sorted newest first: after so many memories of that time (ms since 1970), unmoved by new ones. */
interface Place {
  readonly timestamp: number
  readonly skipped: number
}

/** The place that a cursor names; undefined for the beginning. Throws `invalid`. */
function readCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const [, timestamp, skipped] = /^(\d{1,15})\.(\d{1,7})$/.exec(cursor) ?? []
  if (timestamp !== undefined && skipped !== undefined)
    return { timestamp: Number(timestamp), skipped: Number(skipped) }
  throw new AppError('invalid', 'Invalid cursor: give the next_cursor of the page before, or none')
}

/** The cursor behind the last of these memories, which began at `from`. */
function cursorAfter(memories: readonly { readonly timestamp: number }[], from: Place | undefined): string | undefined {
  const last = memories.at(-1)?.timestamp
  if (last === undefined) return undefined
  const same = memories.filter(({ timestamp }) => timestamp === last).length
  return `${last}.${same + (from?.timestamp === last ? from.skipped : 0)}`
}
