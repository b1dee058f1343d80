import type { Vector } from '../../personas/personas.ts'
import type { TextRow } from '../shared/memory-text.ts'
import type { Statement, Work } from './port.ts'

/**
 * How a database finds memories by their words and vectors: SQLite by its full-text index and sqlite-vec,
 * PostgreSQL by blocks of postings and by pgvector, where that is there. Work expects to run inside the transaction of the
 * memories that it is about.
 */
export interface MemoryIndex {
  /** The memories around these ones, which lose context when they go; none of them is among these. */
  neighbours(scopeId: number, numbers: readonly number[]): Work<readonly number[]>
  /** The changed memories and the others, and those around the changed ones: with the memories around each. And these. */
  surroundings(scopeId: number, changed: readonly number[], others: readonly number[]): Work<readonly Surrounded[]>
  /** Writes the terms of memories, and has them found by these. */
  write(scopeId: number, changes: readonly TermsChange[]): Work<void>
  /** Takes memories that are removed next out of the index, where that needs their rows. */
  forget(numbers: readonly number[]): Work<void>
  /** Writes the vectors of memories, instead of those before. */
  putVectors(vectors: readonly PlacedVector[]): Work<void>
  /** The bytes of a row of `memory_vector`. */
  readonly vectorBytes: Statement
  readVector(bytes: Buffer): Float32Array
  /** Whether the table has columns of a memory's speaker and of whether it is lore. */
  readonly hasLabelColumns: boolean
}

/** The terms of a memory, each list as it is stored. */
export interface IndexedText {
  readonly terms: string
  readonly about: string
  readonly context: string
}

/** The terms that a memory had and has; it is new without `old`, and gone without `fresh`. */
export interface TermsChange {
  readonly number: number
  readonly old: IndexedText | undefined
  readonly fresh: IndexedText | undefined
}

/** A memory with its terms, which are null while it has none. */
export interface Surrounded extends TextRow, Readonly<Record<keyof IndexedText, string | null>> {
  /** The numbers of those around it, with their distances, the earlier ones first; absent where it was not asked for. */
  readonly around?: readonly (readonly [number: number, distance: number])[] | undefined
}

export interface PlacedVector {
  readonly number: number
  readonly spaceId: number
  readonly values: Float32Array
}

/** A vector that a memory is given. */
export interface NumberedVector {
  readonly number: number
  readonly vector: Vector
}
