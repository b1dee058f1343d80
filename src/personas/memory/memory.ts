import { z } from 'zod'
import { displayName } from '../../formats/display-name.ts'

/** Whose memories: every method of a store takes it first, and every statement carries it. */
export interface Scope {
  readonly personaId: string
  readonly userId: string
}

/** A memory's content: some text of at most this many characters. */
export const maxContentLength = 20_000

/**
 * What a memory carries beside its text. Four names have a meaning here: `category` (filter and wipe by it),
 * `pinned` (never removed by clean-up), `speaker` (who said it), `conversation` (memories of one conversation give each
 * other context in search).
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
  /** Only where it was asked for, and absent while it is still pending. */
  readonly vector?: Vector
}

/** A memory to be stored; ids are made by the store unless given (an import gives them after remapping). */
export interface NewMemory {
  readonly id?: string
  readonly content: string
  readonly timestamp: number
  readonly importance_score: number
  readonly metadata: Metadata
  readonly vector?: Vector
  /** When it was stored here, where that was earlier than now; retention counts from it. Milliseconds since 1970 UTC. */
  readonly stored_at?: number
}

/** A unit vector and the space it lives in. */
export interface Vector {
  readonly space: EmbeddingSpace
  readonly values: Float32Array
}

/** Vectors are comparable only inside one space: one model in one version with one dimension. */
export interface EmbeddingSpace {
  /** Unique and stable, such as `ollama/nomic-embed-text:latest@0a109f42` or `builtin@5f3c…`. */
  readonly key: string
  /** The name by which a persona asks for it. */
  readonly model: string
  readonly dimension: number
}

/** How much is kept. */
export interface RetentionPolicy {
  readonly maxMemories: number
  /** Milliseconds since a memory was stored here, whatever time it speaks of. */
  readonly maxAge: number
  /** Without clean-up nothing is evicted, and a full memory refuses. */
  readonly cleanup: boolean
  /** What the time is, to measure ages by. */
  readonly now: number
}

/** How many evictions a scope remembers, and how many a write tells of. */
export const keptEvictions = 1000

/** Why a memory went. */
export interface Eviction {
  readonly memory_id: string
  readonly reason: 'max_memories' | 'retention_days'
  /** The memory's own time and importance, to judge the decision by; its text is gone. */
  readonly timestamp: number
  readonly importance_score: number
  readonly evicted_at: number
}

/**
 * What has outlived its days is removed by a later write; until then no read shows it. Absent, nothing expires.
 */
export interface Unexpired {
  /** Memories that were stored earlier count as gone, unless they are pinned. Milliseconds since 1970 UTC. */
  readonly since?: number
}

export interface ListOptions extends Unexpired {
  readonly limit: number
  readonly offset: number
  readonly category?: string
  /** Whether entries carry their embedding. */
  readonly embeddings?: boolean
}

/** A wipe takes everything that matches all that is said. */
export interface WipeFilter {
  readonly category?: string
  /** Only memories older than this time. */
  readonly before?: number
}

/** What a store is asked to find. */
export interface SearchQuery extends Unexpired {
  /** As `queryTermsOf` gives them; none finds by vector alone. */
  readonly terms: readonly string[]
  /** The query's vector; none finds by terms alone. */
  readonly vector?: Vector
  /** How many candidates the words give at the most; the vectors give half as many. */
  readonly candidates: number
}

/** What a store found for `rank` to judge. */
export interface Found {
  /** Memories in the scope, and how long the terms of one are on average, in characters. */
  readonly memories: number
  readonly meanLength: number
  /** For each asked term, in the order asked: in how many memories' own text it stands. */
  readonly frequencies: readonly number[]
  readonly candidates: readonly Candidate[]
}

/** A memory that may answer. */
export interface Candidate {
  readonly entry: MemoryEntry
  /** Its terms in order, a space between them: parting them for every search would cost more than the search. */
  readonly terms: string
  /** Terms of who said it and when. */
  readonly about: string
  /** What was said around it in the same conversation, as `writeContext` has written it. */
  readonly context: string
  /** With the query's vector; absent where the memory has none in that space, or was asked for none. */
  readonly cosine?: number
}

/** Some of the memories that have no vector yet. */
export interface PendingPage {
  readonly entries: readonly MemoryEntry[]
  /** Where to go on; absent at the end. */
  readonly next?: number
}

/** Where memories are kept: text, search index and vectors agree at all times, since each write is one transaction. */
export interface MemoryStore {
  /**
   * Adds memories in one transaction and enforces the policy in it; where very many have to go, the rest goes after it,
   * some at a time, before this resolves. A memory whose content, speaker and conversation are there already is not
   * stored twice: the older one takes the newer time, the higher importance and the metadata.
   * Throws `invalid` when what is pinned leaves no room for it. Resolves with the entries as stored, in the order given,
   * and with what had to go, `keptEvictions` of them at the most.
   */
  add(
    scope: Scope,
    memories: readonly NewMemory[],
    policy: RetentionPolicy,
  ): Promise<{ readonly entries: readonly MemoryEntry[]; readonly evicted: readonly Eviction[] }>
  get(scope: Scope, id: string): Promise<MemoryEntry | undefined>
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
   * Removes for good (text, index, vectors, freed pages) and resolves with the number. A wipe of everything is seen at once;
   * any other goes some at a time, and takes what was there when it began.
   */
  wipe(scope: Scope, filter: WipeFilter): Promise<number>
  /** Removes some of what is too old or too many, in a few slices; resolves with whether more has to go. */
  trim(scope: Scope, policy: RetentionPolicy): Promise<boolean>
  /** Removes what is too old or too many, some at a time; resolves with `keptEvictions` of them at the most. */
  clean(scope: Scope, policy: RetentionPolicy): Promise<readonly Eviction[]>
  /** The scopes that hold memories, some at a time: those after a mark, which is the number of the last one given. */
  scopes(after: number): Promise<readonly { readonly number: number; readonly scope: Scope }[]>
  /** Removes for good, some at a time, what was wiped or left behind by removed personas, earlier ones' too. */
  clear(): Promise<void>
  /** What may answer a query: the best by terms and the nearest by vector, in no order. */
  search(scope: Scope, query: SearchQuery): Promise<Found>
  /**
   * Memories that have no vector in the space, oldest first, from a place on that the call before gave as `next` (0 at
   * first); without `next` the end is reached. A page may be empty before the end.
   */
  pending(scope: Scope, spaceKey: string | undefined, from: number, limit: number): Promise<PendingPage>
  /** Gives memories their vectors, in place of older ones; ids that are gone are left out. */
  putVectors(scope: Scope, vectors: ReadonlyMap<string, Vector>): Promise<void>
  /** The record of what went and why, newest first. */
  evictions(scope: Scope, limit: number): Promise<readonly Eviction[]>
}

/** A memory's metadata is a handful of labels. Characters as JSON. */
const longestMetadata = 10_000

const label = z.string().overwrite(wellFormed).pipe(displayName(200))

const metadata = z
  .looseObject({
    category: z.exactOptional(label),
    pinned: z.exactOptional(z.boolean()),
    speaker: z.exactOptional(label),
    conversation: z.exactOptional(label),
  })
  .refine(
    (fields) => JSON.stringify(fields).length <= longestMetadata,
    `must not be longer than ${longestMetadata} characters as JSON`,
  )

/** The end of the year 9999: nothing was said later. Milliseconds since 1970 UTC. */
const latestTimestamp = 253_402_300_799_999

/** What a user says of a new memory. */
export const memoryInput = z.strictObject({
  content: z.string().overwrite(wellFormed).trim().min(1).max(maxContentLength),
  importance_score: z.number().min(0).max(1).default(0.5),
  /** When it was said, where that was not now. */
  timestamp: z.exactOptional(z.int().min(0).max(latestTimestamp)),
  metadata: metadata.default({}),
})
export type MemoryInput = z.output<typeof memoryInput>

/** Half a character, which no database keeps as it is, becomes U+FFFD, as it would on any way to a file. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** The category of a memory, or '' when it has none. */
export function categoryOf(metadata: Metadata): string {
  return textIn(metadata, 'category')
}

/** Who said it, or ''. */
export function speakerOf(metadata: Metadata): string {
  return textIn(metadata, 'speaker')
}

/** The conversation it was said in, or ''. */
export function conversationOf(metadata: Metadata): string {
  return textIn(metadata, 'conversation')
}

/** Whether clean-up must leave it. */
export function isPinned(metadata: Metadata): boolean {
  return metadata['pinned'] === true
}

function textIn(metadata: Metadata, field: string): string {
  const value = metadata[field]
  return typeof value === 'string' ? value : ''
}
