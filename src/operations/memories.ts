import { z } from 'zod'
import { AppError } from '../errors.ts'
import {
  type ChangedBackups,
  eviction,
  type MemoryView,
  memoryChange,
  memoryInput,
  type Persona,
  scoreParts,
  timeForms,
  timeFromText,
} from '../personas/personas.ts'
import { page } from './input.ts'
import { type Call, defineOperation } from './operation.ts'
import { locatePersona, ownPersona } from './personas.ts'
import { mayRemainIn, remains } from './remains.ts'

const personaId = z.object({ id: z.string() })

const entry = z.object({
  id: z.string(),
  user_id: z.string(),
  persona_id: z.string(),
  content: z.string(),
  timestamp: z.int(),
  importance_score: z.number(),
  metadata: z.record(z.string(), z.unknown()),
})

const memory = entry.extend({
  embedding_model: z.string(),
  /** `pending` until the embedding model has answered; the memory is found by its words meanwhile. */
  embedding_status: z.enum(['ready', 'pending']),
  embedding: z.exactOptional(z.array(z.number())),
})

const timeRule = `must be ${timeForms}`
/** A time as `timeFromText` reads it, or in milliseconds since 1970 UTC. */
const time = z.union([z.int(timeRule), z.string().trim().min(1, timeRule).max(100, timeRule)], timeRule)

/** The conditions of a list or search; a memory has to meet all that are given. */
const filter = {
  /** '' for memories without one; the same for the two that follow. */
  category: z.exactOptional(z.string()),
  speaker: z.exactOptional(z.string()),
  conversation: z.exactOptional(z.string()),
  /** The earliest time, itself included. */
  after: z.exactOptional(time),
  /** The time before which it is. */
  before: z.exactOptional(time),
  pinned: z.exactOptional(z.union([z.boolean(), z.stringbool()])),
}

interface TimesAsGiven {
  readonly after?: number | string
  readonly before?: number | string
}

/** The conditions with their times as numbers. Throws `invalid` for one that is no time. */
function conditionsOf<T extends TimesAsGiven>({ after, before, ...others }: T, now: number) {
  return {
    ...others,
    ...(after !== undefined && { after: timeOf('after', after, now) }),
    ...(before !== undefined && { before: timeOf('before', before, now) }),
  }
}

/** A given time in milliseconds since 1970 UTC. Throws `invalid` for what is no time. */
function timeOf(field: string, given: number | string, now: number): number {
  // A number in a query is one of milliseconds as well, also 2000.
  const isNumber = typeof given === 'number' || /^\d+$/.test(given)
  const read = isNumber ? Number(given) : timeFromText(given, now)
  if (read === undefined) throw new AppError('invalid', 'Invalid request', { details: [`${field}: ${timeRule}`] })
  return read
}

/** The most memories with embeddings in one answer: 1,000 of 448 numbers are 10 MB of JSON, which take 500 ms to write. */
const mostEmbeddings = 100

/** Memories found by one search: a thousand took 290 ms to read, rank and write. A list of all has pages of that size. */
const mostFound = 100

const foundLimit = z.coerce.number().int().min(1).max(mostFound)

/** The rules of operations on the memory of the persona that the path names. */
export const ofPersona = { access: 'user', scope: 'memory', locate: locatePersona } as const

export const addMemory = defineOperation({
  name: 'memories.add',
  route: 'POST /api/personas/:id/memory',
  ...ofPersona,
  status: 201,
  summary: 'Stores a memory. Storing the same content again renews it.',
  input: memoryInput.extend(personaId.shape),
  output: memory.extend({
    /** The memories evicted to make room. */
    evicted: z.array(eviction),
  }),
  run: async ({ app }, { id: _id, ...input }, persona) => {
    const { memories, profiles } = await app.personas()
    const { memory: stored, evicted } = await memories.add(persona, input)
    await profiles.noted(persona, stored)
    const { embedding, ...rest } = stored
    return { ...rest, ...(embedding && { embedding: [...embedding] }), evicted }
  },
})

/** The most memories of one batch: to embed, index and store them takes a second or two, in turns with other requests. */
const mostInBatch = 1000

const addMemories = defineOperation({
  name: 'memories.addBatch',
  route: 'POST /api/personas/:id/memory/batch',
  ...ofPersona,
  status: 201,
  limit: 32 * 1024 * 1024,
  summary: 'Stores up to 1,000 memories, all of them or none; those that are there already are renewed.',
  input: z.strictObject({
    id: z.string(),
    memories: z.array(memoryInput).min(1).max(mostInBatch),
  }),
  output: z.object({
    added: z.int(),
    updated: z.int(),
    /** How many memories were evicted to make room. */
    evicted: z.int(),
  }),
  run: async ({ app }, { memories }, persona) => (await app.personas()).memories.addAll(persona, memories),
})

const memoryId = personaId.extend({ memory_id: z.string() })

/** The memory that the path names, and its persona; throws `not_found`, or `forbidden` for another user's persona. */
async function locateMemory(
  call: Call,
  { id = '', memory_id = '' }: Readonly<Record<string, string>>,
): Promise<{ readonly persona: Persona; readonly memory: MemoryView }> {
  const persona = await ownPersona(call, id)
  return { persona, memory: await (await call.app.personas()).memories.get(persona, memory_id) }
}

const ofMemory = { ...ofPersona, locate: locateMemory } as const

function withoutEmbedding({ embedding: _embedding, ...rest }: MemoryView) {
  return rest
}

export const showMemory = defineOperation({
  name: 'memories.show',
  failures: [404],
  route: 'GET /api/personas/:id/memory/:memory_id',
  ...ofMemory,
  summary: 'Shows a memory; its embedding on request.',
  input: memoryId.extend({ include: z.exactOptional(z.enum(['embedding'])) }),
  output: memory,
  run: (_call, { include }, located) => {
    const { embedding, ...rest } = located.memory
    return { ...rest, ...(include && embedding && { embedding: [...embedding] }) }
  },
})

/** What became of the persona's backups that held the removed memories; absent where none did. */
export const backups = z.exactOptional(
  z.object({
    /** Written again without them. */
    rewritten: z.int(),
    /** Removed, since they could not be read any more. */
    removed: z.int(),
  }),
)

/** The field of an answer for these backups. */
export function backupsField(changed: ChangedBackups): { backups?: ChangedBackups } {
  return changed.rewritten + changed.removed > 0 ? { backups: changed } : {}
}

export const editMemory = defineOperation({
  name: 'memories.edit',
  failures: [404],
  route: 'PUT /api/personas/:id/memory/:memory_id',
  ...ofMemory,
  summary: 'Edits a memory: absent fields stay, metadata is merged field by field, and null removes a field of it.',
  input: memoryChange.extend(memoryId.shape),
  output: memory,
  run: async ({ app }, { id: _id, memory_id: _memory, ...change }, { persona, memory: before }) => {
    const { memories, profiles } = await app.personas()
    const after = await memories.edit(persona, before, change)
    await profiles.follow(persona, before, after.content)
    return withoutEmbedding(after)
  },
})

export const removeMemory = defineOperation({
  name: 'memories.remove',
  failures: [404],
  route: 'DELETE /api/personas/:id/memory/:memory_id',
  ...ofMemory,
  summary: "Removes a memory for good, also from the persona's backups.",
  input: memoryId,
  output: z.object({ deleted: z.literal(1), backups, may_remain_in: mayRemainIn }),
  run: async ({ app, caller }, { memory_id }, { persona }) => {
    const changed = await (await app.personas()).memories.remove(persona, memory_id)
    return { deleted: 1 as const, ...backupsField(changed), may_remain_in: await remains(app, caller.id, persona.id) }
  },
})

export const listMemories = defineOperation({
  name: 'memories.list',
  route: 'GET /api/personas/:id/memory',
  ...ofPersona,
  summary: "Lists a persona's memories, newest first, all or those that meet the conditions; embeddings on request.",
  // Strict: an ignored misspelt filter would widen the result.
  input: z
    .strictObject({
      id: z.string(),
      ...page,
      ...filter,
      /** The beginning of the ids. */
      id_prefix: z.exactOptional(z.string().min(1)),
      include: z.exactOptional(z.enum(['embedding'])),
    })
    .refine(({ include, limit }) => include === undefined || limit <= mostEmbeddings, {
      path: ['limit'],
      message: `must be at most ${mostEmbeddings} where embeddings are included`,
    }),
  output: z.object({ memories: z.array(memory), total: z.int() }),
  run: async ({ app }, { id: _id, include, id_prefix: idPrefix, ...options }, persona) => {
    const embeddings = include === 'embedding'
    const area = await app.personas()
    const conditions = conditionsOf(options, area.now())
    const listed = { ...conditions, embeddings, ...(idPrefix !== undefined && { idPrefix }) }
    const { memories, total } = await area.memories.list(persona, listed)
    return {
      memories: memories.map(({ embedding, ...rest }) => ({
        ...rest,
        ...(embedding && { embedding: [...embedding] }),
      })),
      total,
    }
  },
})

export const searchMemories = defineOperation({
  name: 'memories.search',
  route: 'POST /api/personas/:id/memory/search',
  ...ofPersona,
  summary:
    'Searches memories by words and by meaning, best first, each with the parts of its score; all, or those that meet the conditions.',
  // Strict: an ignored misspelt filter would widen the result.
  input: z.strictObject({
    id: z.string(),
    query: z.string().trim().min(1).max(10_000),
    limit: z.exactOptional(foundLimit),
    /** Other names for `limit`. */
    max_results: z.exactOptional(foundLimit),
    top_k: z.exactOptional(foundLimit),
    /** The least score; by default 0. */
    min_score: z.exactOptional(z.coerce.number().min(0).max(1)),
    /** The time whose memories are searched: those that were said up to then and held then. By default now. */
    as_of: z.exactOptional(time),
    ...filter,
  }),
  output: z.object({
    results: z.array(
      entry.extend({
        /** The estimated probability, from 0 to 1, that the memory answers: comparable between queries and personas. */
        score: z.number(),
        /** Whether the score reaches the persona's floor, `memory_settings.min_score`. */
        relevant: z.boolean(),
        /** The id of an older memory about the same thing, which this one supersedes. */
        supersedes: z.exactOptional(z.string()),
        parts: scoreParts,
      }),
    ),
    mode: z.enum(['hybrid', 'lexical']),
    embedding_model: z.string(),
    /** True where time ended before all matches were read: those that match most words are there. */
    cut: z.exactOptional(z.literal(true)),
  }),
  run: async (
    { app, signal },
    { id: _id, query, limit, max_results, top_k, min_score, as_of, ...conditions },
    persona,
  ) => {
    const { memories, now } = await app.personas()
    const { hits, cut, ...about } = await memories.search(persona, {
      query,
      limit: limit ?? max_results ?? top_k ?? 10,
      minScore: min_score,
      filter: conditionsOf(conditions, now()),
      asOf: as_of === undefined ? undefined : timeOf('as_of', as_of, now()),
      signal,
    })
    const results = hits.map(({ entry: found, ...hit }) => ({ ...found, ...hit }))
    return { results, ...about, ...(cut && { cut }) }
  },
})

export const wipeMemories = defineOperation({
  name: 'memories.wipe',
  route: 'DELETE /api/personas/:id/memory',
  ...ofPersona,
  audited: true,
  summary:
    "Wipes memories for good, also from the persona's backups: all of them, those of a category, or those before a time.",
  // Strict: an ignored misspelt filter would wipe everything.
  input: z.strictObject({
    id: z.string(),
    category: z.exactOptional(z.string()),
    before: z.exactOptional(z.coerce.number().int().min(1)),
  }),
  output: z.object({ deleted: z.int(), backups, may_remain_in: mayRemainIn }),
  run: async ({ app, caller }, { id: _id, ...filter }, persona) => {
    const { memories } = await app.personas()
    const { deleted, backups: changed } = await memories.wipe(persona, filter)
    const isChanged = deleted > 0 || changed.rewritten > 0 || changed.removed > 0
    return {
      deleted,
      ...backupsField(changed),
      ...(isChanged && { may_remain_in: await remains(app, caller.id, persona.id) }),
    }
  },
})

export const listCategories = defineOperation({
  name: 'memories.categories',
  route: 'GET /api/personas/:id/memory/categories',
  ...ofPersona,
  summary: "Counts a persona's memories by category; the empty category holds those without one.",
  input: personaId,
  output: z.object({ categories: z.array(z.object({ category: z.string(), count: z.int() })) }),
  run: async ({ app }, _input, persona) => ({
    categories: await (await app.personas()).memories.categories(persona),
  }),
})

export const listEvictions = defineOperation({
  name: 'memories.evictions',
  route: 'GET /api/personas/:id/memory/evictions',
  ...ofPersona,
  summary: 'Lists the evicted memories with the reason, newest first.',
  input: personaId.extend({ limit: page.limit }),
  output: z.object({ evictions: z.array(eviction) }),
  run: async ({ app }, { limit }, persona) => ({
    evictions: await (await app.personas()).memories.evictions(persona, limit),
  }),
})

export const memoryOperations = [
  addMemory,
  addMemories,
  listMemories,
  searchMemories,
  wipeMemories,
  listCategories,
  listEvictions,
  showMemory,
  editMemory,
  removeMemory,
]
