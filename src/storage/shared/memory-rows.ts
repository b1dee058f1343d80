import { createHash, randomUUID } from 'node:crypto'
import {
  type Candidate,
  categoryOf,
  conversationOf,
  type Eviction,
  isPinned,
  longestTerms,
  type MemoryEntry,
  type Metadata,
  type NewMemory,
  rankOfWorth,
  ranksOfWorth,
  type Scope,
  speakerOf,
  type Vector,
} from '../../personas/personas.ts'

export interface Row {
  memory_id: number
  id: string
  content: string
  timestamp: number
  importance: number
  metadata: string
}

/** The same words by the same speaker in the same conversation are the same memory. */
export function digestOf({ content, metadata }: Pick<NewMemory, 'content' | 'metadata'>): Buffer {
  const parts = [content.normalize('NFC').trim(), speakerOf(metadata), conversationOf(metadata)]
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/**
 * How much a memory is worth keeping: by its rank, and within it by its importance, halved with every month of age, as a logarithm. So
 * it does not change with the time, and the least worth is found in an index. What was stated has the worth that it had before there were
 * ranks.
 */
export function worthOf(
  timestamp: number,
  importance: number,
  memory: Pick<NewMemory, 'content' | 'metadata'>,
): number {
  const rank = ranksOfWorth.indexOf(rankOfWorth(memory)) - ranksOfWorth.indexOf('told')
  return rank * monthsOfRank + timestamp / monthMs + Math.log2(importance + 0.1)
}

/** The rank that a worth stands for. */
function rankIn(worth: number): (typeof ranksOfWorth)[number] {
  const rank = Math.floor((worth + 10) / monthsOfRank) + ranksOfWorth.indexOf('told')
  return ranksOfWorth[Math.min(ranksOfWorth.length - 1, Math.max(0, rank))]!
}

/** Months between two ranks: more than lie between any two times. */
const monthsOfRank = 100_000

const monthMs = 2_592_000_000

/** The columns of a new memory that is stored `now`. */
export function rowOf(number: number, scopeId: number, memory: NewMemory, digest: Buffer, now: number) {
  return {
    memory_id: number,
    scope_id: scopeId,
    id: memory.id ?? randomUUID(),
    content: memory.content,
    digest,
    timestamp: memory.timestamp,
    importance: memory.importance_score,
    stored_at: memory.stored_at ?? now,
    worth: worthOf(memory.timestamp, memory.importance_score, memory),
    category: categoryOf(memory.metadata),
    pinned: Number(isPinned(memory.metadata)),
    conversation: conversationOf(memory.metadata),
    metadata: JSON.stringify(memory.metadata),
  }
}

/** The columns of `memory` that follow from its metadata, and are no part of SQLite's table or of another type there. */
export function labelColumns(metadata: Metadata) {
  return { pinned: isPinned(metadata), speaker: speakerOf(metadata), is_lore: Array.isArray(metadata['keys']) }
}

/** A memory as the area knows it. */
export function entryOf(scope: Scope, row: Row, vector?: Vector): MemoryEntry {
  const entry = {
    id: row.id,
    user_id: scope.userId,
    persona_id: scope.personaId,
    content: row.content,
    timestamp: row.timestamp,
    importance_score: row.importance,
    metadata: JSON.parse(row.metadata),
  }
  return vector ? { ...entry, vector } : entry
}

/** A memory with the terms that are stored next to it. */
export interface CandidateRow extends Row {
  readonly terms: string
  readonly about: string
  readonly context: string
}

/** A candidate of a search. */
export function candidateOf(scope: Scope, row: CandidateRow, cosine: number | null | undefined): Candidate {
  const { terms: all, about, context } = row
  const terms = all.length > longestTerms ? all.slice(0, all.lastIndexOf(' ', longestTerms)) : all
  const candidate = { entry: entryOf(scope, row), terms, about, context }
  return cosine === undefined || cosine === null ? candidate : { ...candidate, cosine }
}

/** The record of an evicted memory. */
export function evictionOf(
  row: Pick<Row, 'id' | 'timestamp' | 'importance'> & { readonly worth: number },
  reason: Eviction['reason'],
  now: number,
): Eviction {
  return {
    memory_id: row.id,
    reason,
    rank: rankIn(row.worth),
    timestamp: row.timestamp,
    importance_score: row.importance,
    evicted_at: now,
  }
}
