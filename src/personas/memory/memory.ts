import { z } from 'zod'
import { displayName } from '../../formats/formats.ts'

/** The owner of memories, log and backups: the first parameter of every store method, and a condition of every statement. */
export interface Scope {
  readonly personaId: string
  readonly userId: string
}

/** The most characters of a memory's content. */
export const maxContentLength = 20_000

/**
 * Labels of a memory. Some have a meaning here: `category` (to filter and wipe by), `pinned` (never evicted), `speaker`,
 * `conversation` (memories of one conversation give each other context in search), `valid_from` and `valid_to` (the time in
 * which it holds, in milliseconds since 1970 UTC), `ended_by` (the id of the memory that says it is over, see present.ts),
 * `times` (when it was said, where that was more than once), `kind` (see kinds.ts), and `keys` (see lore.ts).
 */
export type Metadata = Readonly<Record<string, unknown>>

/** A stored memory in the specification's fields. */
export interface MemoryEntry {
  readonly id: string
  readonly user_id: string
  readonly persona_id: string
  readonly content: string
  /** Milliseconds since 1970 UTC. */
  readonly timestamp: number
  /** 0 to 1. */
  readonly importance_score: number
  readonly metadata: Metadata
  /** Only on request, and absent while it is pending. */
  readonly vector?: Vector
}

/** A memory to be stored; the store makes its id unless an import gives one. */
export interface NewMemory extends EditedMemory {
  readonly id?: string
  readonly vector?: Vector
  /** The time of storage, by default now; retention counts from it. Milliseconds since 1970 UTC. */
  readonly stored_at?: number
}

export interface Vector {
  readonly space: EmbeddingSpace
  readonly values: Float32Array
}

/** Vectors are comparable only within one space: one model in one version with one dimension. */
export interface EmbeddingSpace {
  /** Unique and stable, such as `ollama/nomic-embed-text:latest@0a109f42` or `builtin@5f3c…`. */
  readonly key: string
  /** The model's name as a persona's `embedding_model`. */
  readonly model: string
  readonly dimension: number
}

export type EditedMemory = Pick<MemoryEntry, 'content' | 'timestamp' | 'importance_score' | 'metadata'>

export interface RetentionPolicy {
  readonly maxMemories: number
  /** Milliseconds since a memory was stored, not since its timestamp. */
  readonly maxAge: number
  /** Whether memories are evicted; without it a full memory refuses new ones. */
  readonly cleanup: boolean
  /** Milliseconds since 1970 UTC. */
  readonly now: number
}

/** The most evictions that a scope records, and that a write reports. */
export const keptEvictions = 1000

/** How long a memory is kept in a full store, the first to go first; see `rankOfWorth`. */
export const ranksOfWorth = ['question', 'answer', 'over', 'passing', 'told', 'standing'] as const
export type RankOfWorth = (typeof ranksOfWorth)[number]

export const eviction = z.object({
  memory_id: z.string(),
  reason: z.enum(['max_memories', 'retention_days']),
  /** Its rank of worth, see kinds.ts; absent for one that was evicted before there were ranks. */
  rank: z.exactOptional(z.enum(ranksOfWorth)),
  /** The memory's own time and importance, which explain the decision; its text is gone. */
  timestamp: z.int(),
  importance_score: z.number(),
  evicted_at: z.int(),
})
export type Eviction = Readonly<z.output<typeof eviction>>

export const scoreParts = z.object({
  /** The match with the query's words and their context; about 1 when its own text contains all of them. */
  lexical: z.number(),
  /** The match in meaning, weighted by the trust in the vector space and by its knowledge of the query's language. */
  vector: z.number(),
  /** Between `priors.oldest` and 1. */
  recency: z.number(),
  /** Between `1 - priors.importance` and `1 + priors.importance`. */
  importance: z.number(),
  /** How near its times are to those that the query names, from 0 to 1; absent where it names none. */
  time: z.exactOptional(z.number()),
  /** The share of the query's information that its own words cover, from 0 to 1. */
  coverage: z.number(),
  /** The probability that anything found answers the query: the score of the best memory. */
  evidence: z.number(),
})
export type Parts = Readonly<z.output<typeof scoreParts>>

/** The filter of reads for expired memories, which a later write removes. */
export interface Unexpired {
  /** Memories stored earlier are left out, unless they are pinned; absent, none is. Milliseconds since 1970 UTC. */
  readonly since?: number
}

/** The conditions of a list or search; a memory has to meet all that are given. */
export interface MemoryFilter {
  /** '' for memories without one; the same for the two that follow. */
  readonly category?: string
  readonly speaker?: string
  readonly conversation?: string
  /** The earliest time, itself included. Milliseconds since 1970 UTC. */
  readonly after?: number
  /** The time before which it is. Milliseconds since 1970 UTC. */
  readonly before?: number
  readonly pinned?: boolean
  /** The beginning of its id. */
  readonly idPrefix?: string
}

export interface ListOptions extends Unexpired, MemoryFilter {
  readonly limit: number
  readonly offset: number
  /** Whether entries carry their embedding. */
  readonly embeddings?: boolean
}

/** The memories that match all given conditions. */
export interface WipeFilter {
  readonly category?: string
  /** Only memories older than this time. */
  readonly before?: number
}

/** The memories that a person wants to be gone: these, or all that meet a filter. */
export type Forgotten =
  | {
      readonly ids: readonly string[]
      /** Texts of lines of the profile that go beside them. */
      readonly lines?: readonly string[]
    }
  | { readonly filter: WipeFilter }

/** What became of the backups of a persona that held forgotten memories. */
export interface ChangedBackups {
  /** Backups that were written again without them. */
  readonly rewritten: number
  /** Backups that could not be read any more, and so not restored either: they were removed. */
  readonly removed: number
}

export interface SearchQuery extends Unexpired {
  /** As `queryTermsOf` gives them; none finds by vector alone. */
  readonly terms: readonly string[]
  /** For each term, the lookups for words that are spelled like it. */
  readonly alike?: readonly (readonly SpellingLookup[])[]
  /** The query's vector; none finds by terms alone. */
  readonly vector?: Vector
  /** The most candidates by words; by vectors half as many. */
  readonly candidates: number
  /** Only these memories are candidates; document frequencies are those of the whole scope. */
  readonly filter?: MemoryFilter
}

/** How a store finds words that are spelled like a term: those that begin with `text`, or that word itself. */
export interface SpellingLookup {
  readonly text: string
  readonly isPrefix: boolean
}

/** The candidates of a search, with the figures for `rank`. */
export interface Found {
  /** Memories in the scope, and the mean length of their terms, in characters. */
  readonly memories: number
  readonly meanLength: number
  /** The document frequency of each term of the query, in its order. */
  readonly frequencies: readonly number[]
  /** Those by words first, the best at the front. */
  readonly candidates: readonly Candidate[]
  /** Whether candidates were left out, since they are longer together than one search reads. */
  readonly isCut?: boolean
}

/** Bytes of memories, as they are stored with their terms, that one search reads: some 600 long ones, or a second's work. */
export const mostSearched = 24_000_000

/**
 * The most characters of a memory's terms: a text of Chinese characters has each of them as a term of its own and in two
 * pairs. Terms that were stored before texts were bounded in normalising are cut.
 */
export const longestTerms = 110_000

export interface Candidate {
  readonly entry: MemoryEntry
  /** Its terms in order, a space between them: splitting text at every search would cost more than the search. */
  readonly terms: string
  /** The terms of its speaker and date. */
  readonly about: string
  /** The memories around it in the same conversation, in the format of `writeContext`. */
  readonly context: string
  /** Cosine similarity with the query's vector; absent without a vector in its space. */
  readonly cosine?: number
}

/** The vector of a memory's text. */
export interface EmbeddedMemory {
  readonly id: string
  /** The text that was embedded. */
  readonly content: string
  readonly vector: Vector
}

/** A process's claim to embed the memories of a scope. */
export interface EmbeddingClaim {
  /** Another value for each process. */
  readonly holder: string
  readonly model: string
  /** The key of its space; absent before the first vector. */
  readonly space?: string
  /** Milliseconds for which no other process embeds them; 0 ends it. */
  readonly heldFor: number
  /** Milliseconds since 1970 UTC. */
  readonly now: number
}

/**
 * Milliseconds for which vectors of a scope stay in the space that was claimed last, while its model is the same. Two builds
 * with different built-in vectors, or two machines with different versions of a model, would otherwise embed each other's
 * memories again for ever.
 */
export const spaceKeptMs = 120_000

/** A page of memories that are read one after the other. */
export interface PendingPage {
  readonly entries: readonly MemoryEntry[]
  /** The position of the next page; absent at the end. */
  readonly next?: number
}

/** Stores memories. Text, search index and vectors always agree, since each write is one transaction. */
export interface MemoryStore {
  /**
   * Adds memories in one transaction and enforces the policy in it; a very large eviction goes on in batches after it, before
   * this resolves. A memory with the content, speaker and conversation of a stored one updates it: the newer time, the higher
   * importance, the new metadata. Throws `invalid` when pinned memories leave no room. Resolves with the entries as stored,
   * in the given order, with the ids of those that were not there before, and with at most `keptEvictions` evictions.
   */
  add(
    scope: Scope,
    memories: readonly NewMemory[],
    policy: RetentionPolicy,
  ): Promise<{
    readonly entries: readonly MemoryEntry[]
    readonly added: readonly string[]
    readonly evicted: readonly Eviction[]
  }>
  get(scope: Scope, id: string, unexpired?: Unexpired): Promise<MemoryEntry | undefined>
  /**
   * Edits a memory in one transaction: `edit` gets it as it is then, and its error changes nothing. A new text counts
   * as stored now and takes `vector`, and without one it is pending; a text that stays keeps its vector. Undefined
   * without a memory of that id. Throws `invalid` when another memory has the same content, speaker and conversation,
   * and when pinned memories leave no room.
   */
  edit(
    scope: Scope,
    id: string,
    edit: (before: MemoryEntry) => EditedMemory,
    policy: RetentionPolicy,
    vector?: Vector,
  ): Promise<MemoryEntry | undefined>
  /** Removes a memory for good; false where there is none of that id. */
  remove(scope: Scope, id: string): Promise<boolean>
  /** Newest first, with the number of all that match. */
  list(
    scope: Scope,
    options: ListOptions,
  ): Promise<{ readonly entries: readonly MemoryEntry[]; readonly total: number }>
  /** The categories in use and their counts; '' stands for none. */
  categories(
    scope: Scope,
    unexpired: Unexpired,
  ): Promise<readonly { readonly category: string; readonly count: number }[]>
  /**
   * Removes for good (text, index, vectors, freed pages) and resolves with the number. A wipe of everything is visible at
   * once; any other goes in batches over the memories that existed at its start.
   */
  wipe(scope: Scope, filter: WipeFilter): Promise<number>
  /** Removes expired and surplus memories, in a few slices; resolves with whether more has to go. */
  trim(scope: Scope, policy: RetentionPolicy): Promise<boolean>
  /** Enforces the policy in batches; resolves with at most `keptEvictions` evictions. */
  clean(scope: Scope, policy: RetentionPolicy): Promise<readonly Eviction[]>
  /** A page of the scopes that hold memories; `after` is the number of the last one of the page before, 0 at first. */
  scopes(after: number): Promise<readonly { readonly number: number; readonly scope: Scope }[]>
  /** Removes for good, in batches, wiped memories and those of removed personas, of earlier processes too. */
  clear(): Promise<void>
  /** The candidates for a query: the best by terms and the nearest by vector. */
  search(scope: Scope, query: SearchQuery): Promise<Found>
  /** Memories without a vector in the space, oldest first, from a page's `next` (0 at first); pages may be empty. */
  pending(scope: Scope, spaceKey: string | undefined, from: number, limit: number): Promise<PendingPage>
  /** Memories with keys, in the order in which they were stored, from the `next` of the page before (0 at first). */
  lore(scope: Scope, unexpired: Unexpired, from: number, limit: number): Promise<PendingPage>
  /** Sets the vectors of memories; those that were removed or have another text meanwhile are ignored. */
  putVectors(scope: Scope, embedded: readonly EmbeddedMemory[]): Promise<void>
  /**
   * Claims the embedding of a scope's memories, or claims it anew; true where the caller may go on. It may not while another
   * process holds it, nor into another space of the same model within `spaceKeptMs` of another's last claim for the present
   * one. False without memories, too.
   */
  claimEmbedding(scope: Scope, claim: EmbeddingClaim): Promise<boolean>
  /** The recorded evictions, newest first. */
  evictions(scope: Scope, limit: number): Promise<readonly Eviction[]>
}

/** The most characters of a memory's metadata as JSON: a handful of labels. */
const longestMetadata = 10_000

const label = z.string().overwrite(wellFormed).pipe(displayName(200))

/** The end of the year 9999, in milliseconds since 1970 UTC. */
const latestTimestamp = 253_402_300_799_999

const timeRule = 'must be a time from 1970 to the end of 9999, in milliseconds since 1970 UTC'

/** Milliseconds since 1970 UTC. */
const time = z.int(timeRule).min(0, timeRule).max(latestTimestamp, timeRule)

const labels = {
  category: label,
  pinned: z.boolean(),
  speaker: label,
  conversation: label,
  /** The time from which and up to which the memory holds. */
  valid_from: time,
  valid_to: time,
}

/** The labels that one memory has. */
export const metadata = z
  .looseObject({
    category: z.exactOptional(labels.category),
    pinned: z.exactOptional(labels.pinned),
    speaker: z.exactOptional(labels.speaker),
    conversation: z.exactOptional(labels.conversation),
    valid_from: z.exactOptional(labels.valid_from),
    valid_to: z.exactOptional(labels.valid_to),
  })
  .refine(
    (fields) => JSON.stringify(fields).length <= longestMetadata,
    `must not be longer than ${longestMetadata} characters as JSON`,
  )
  .refine(({ valid_from = 0, valid_to = latestTimestamp }) => valid_from <= valid_to, {
    path: ['valid_to'],
    message: 'must not be before valid_from',
  })

/** A change of labels: absent ones stay, null removes one. */
const metadataChange = z.looseObject({
  category: z.exactOptional(labels.category.nullable()),
  pinned: z.exactOptional(labels.pinned.nullable()),
  speaker: z.exactOptional(labels.speaker.nullable()),
  conversation: z.exactOptional(labels.conversation.nullable()),
  valid_from: z.exactOptional(labels.valid_from.nullable()),
  valid_to: z.exactOptional(labels.valid_to.nullable()),
})

const content = z
  .string()
  .overwrite(wellFormed)
  .trim()
  .min(1, 'must not be empty')
  .max(maxContentLength, `must not be longer than ${maxContentLength} characters`)
const importance = z.number().min(0).max(1)

export const memoryInput = z.strictObject({
  content,
  importance_score: importance.default(0.5),
  /** By default now. */
  timestamp: z.exactOptional(time),
  metadata: metadata.default({}),
})
export type MemoryInput = z.output<typeof memoryInput>

/** The input for an edit: absent fields stay, metadata is merged field by field, and null removes a field of it. */
export const memoryChange = z.strictObject({
  content: z.exactOptional(content),
  importance_score: z.exactOptional(importance),
  timestamp: z.exactOptional(time),
  metadata: z.exactOptional(metadataChange),
})
export type MemoryChange = z.output<typeof memoryChange>

/** Replaces lone surrogates by U+FFFD: no database stores them. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** The category of a memory, or '' when it has none. */
export function categoryOf(metadata: Metadata): string {
  return textIn(metadata, 'category')
}

/** The speaker of a memory, or ''. */
export function speakerOf(metadata: Metadata): string {
  return textIn(metadata, 'speaker')
}

/** The conversation of a memory, or ''. */
export function conversationOf(metadata: Metadata): string {
  return textIn(metadata, 'conversation')
}

/** Whether a memory is exempt from eviction. */
export function isPinned(metadata: Metadata): boolean {
  return metadata['pinned'] === true
}

function textIn(metadata: Metadata, field: string): string {
  const value = metadata[field]
  return typeof value === 'string' ? value : ''
}
