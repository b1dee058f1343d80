import type { AdaptationRecord, LogHead } from '../adaptation/log.ts'
import type { Learned } from '../adaptation/state.ts'
import type { Fields } from '../fields.ts'
import type { EmbeddingSpace, MemoryEntry, NewMemory, Scope } from '../memory/memory.ts'
import type { Persona } from '../persona.ts'
import type { BackupRow } from './backup-store.ts'

/** Parts of an imported package without a place in the store, exported again unchanged. */
export interface Passthrough {
  /** Unknown top-level fields. */
  readonly extra?: Fields
  /** Unknown fields of `export_metadata`. */
  readonly metadata?: Fields
  /** Unknown fields of the state. */
  readonly state?: Fields
  /** The persona's earlier exports, oldest first. */
  readonly lineage?: readonly Fields[]
  /** The imported character card. */
  readonly card?: Fields
  /** A PNG in base64. */
  readonly portrait?: string
}

/** A memory with its unknown fields. */
export interface ArchivedMemory {
  readonly entry: MemoryEntry
  readonly extra: Fields
  /** Its time of storage, in milliseconds since 1970 UTC; no part of a package. */
  readonly stored_at: number
}

export interface IncomingMemory extends NewMemory {
  readonly id: string
  readonly extra: Fields
}

/** The store's seals of a persona: show whether another program changed it in the database. */
export interface SealReport {
  /** The start of the seals, in milliseconds since 1970 UTC; earlier changes do not show. */
  readonly since: number | null
  /** One sentence for each record that was altered, added or removed. */
  readonly problems: readonly string[]
}

/** A snapshot of a whole persona. */
export interface ArchivedPersona {
  readonly persona: Persona
  /** The stored state; the log may give another one. */
  readonly learned: Learned
  readonly log: readonly AdaptationRecord[]
  readonly passthrough: Passthrough
  /** The spaces of its vectors. */
  readonly spaces: readonly EmbeddingSpace[]
  /** In the order in which they were stored. Valid only inside `read`. */
  memories(): Iterable<ArchivedMemory>
  /** Changes with every change of the persona but those of vectors. Reads one row. */
  fingerprint(): string
  /** Compares everything with its seal. */
  seals(): SealReport
}

/** Backs up a persona before it is replaced. */
export interface ReplacedBackup {
  /** Called before each attempt of the transaction: writes the file of a large persona. */
  prepare(): Promise<void>
  /**
   * Called inside the transaction: the backup of the replaced persona. Undefined when that is large and has changed since
   * `prepare`; then the write is tried again.
   */
  take(replaced: ArchivedPersona): BackupRow | undefined
}

/** The write of a whole persona. */
export interface PersonaWrite {
  /** The new persona, or all new fields of the replaced or merged one. */
  readonly persona: Persona
  /** `create`: it must not exist. `replace`: all its data is removed. `merge`: memories are added, the log grows. */
  readonly how: 'create' | 'replace' | 'merge'
  /** May be called more than once. */
  memories(): Iterable<IncomingMemory>
  /** The number of memories. */
  readonly count: number
  /** Bytes that they take on the disk, roughly. */
  readonly weight: number
  /** Makes the log: the whole of it, or for `merge` the records after the head. */
  log(head: LogHead, learned: Learned): { readonly records: readonly AdaptationRecord[]; readonly learned: Learned }
  readonly passthrough: Passthrough
  /** Backs up the replaced persona; the row is written in the same transaction. */
  readonly backup?: ReplacedBackup
  /** Called in the transaction with the persona's new number of memories; throws when they are too many. */
  admit?(memories: number): void
  /** Rolls everything back; the result is that of the write. */
  readonly dryRun?: boolean
}

/** Stores whole personas. */
export interface PersonaArchive {
  /** Calls `use` with the persona in one consistent snapshot; `undefined` when that user has no such persona. */
  read<T>(scope: Scope, use: (archived: ArchivedPersona) => T): Promise<T | undefined>
  /** The persona's size, in constant time; zeros when that user has no such persona. */
  extent(scope: Scope): Extent
  /**
   * Atomic: a large write is staged in invisible slices, yielding to the event loop between them, and one short transaction
   * publishes them. Rejects when `signal` is aborted before that, with `too_large` beyond the owner's quota, and with `busy`
   * when concurrent changes persist. Resolves with the number of new memories.
   */
  write(write: PersonaWrite, signal?: AbortSignal): Promise<{ readonly memories: number }>
  /** Removes the unfinished writes of ended processes. */
  sweep(): Promise<void>
}

/** The size of a persona. */
export interface Extent {
  readonly memories: number
  /** Records of the log. */
  readonly records: number
  /** Of all its data. */
  readonly bytes: number
}

/** Up to this size a persona is read or written in some milliseconds, and in this process. */
const small: Extent = { memories: 200, records: 200, bytes: 128 * 1024 }

/** Whether a persona is read or written in this process: sooner than a child process starts. */
export function isSmall({ memories, records, bytes }: Extent): boolean {
  return memories <= small.memories && records <= small.records && bytes <= small.bytes
}
