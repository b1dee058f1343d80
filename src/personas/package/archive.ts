import type { AdaptationRecord, LogHead } from '../adaptation/log.ts'
import type { Learned } from '../adaptation/state.ts'
import type { Fields } from '../fields.ts'
import type { EmbeddingSpace, MemoryEntry, NewMemory, Scope } from '../memory/memory.ts'
import type { Persona } from '../persona.ts'
import type { BackupRow } from './backup-store.ts'

/** What came with an imported package and has no place here; exported again as it came. */
export interface Passthrough {
  /** Unknown top-level fields. */
  readonly extra?: Fields
  /** Unknown fields of `export_metadata`. */
  readonly metadata?: Fields
  /** Unknown fields of the state. */
  readonly state?: Fields
  /** Where the persona comes from, oldest first. */
  readonly lineage?: readonly Fields[]
  /** The character card that the persona came as. */
  readonly card?: Fields
  /** A PNG in base64. */
  readonly portrait?: string
}

/** A memory with the fields that came along and are unknown here. */
export interface ArchivedMemory {
  readonly entry: MemoryEntry
  readonly extra: Fields
  /** When it was stored here; no part of a package. */
  readonly stored_at: number
}

export interface IncomingMemory extends NewMemory {
  readonly id: string
  readonly extra: Fields
}

/** What the store's seals say of a persona: whether another program than this one changed it in the database. */
export interface SealReport {
  /** Since when what is there is sealed, in milliseconds since 1970 UTC; what was changed before does not show. */
  readonly since: number | null
  /** One sentence for each record that was altered, added or removed. */
  readonly problems: readonly string[]
}

/** A persona and all that belongs to it, as it is at one moment. */
export interface ArchivedPersona {
  readonly persona: Persona
  /** The state as the store keeps it; what the log gives may be asked of the log. */
  readonly learned: Learned
  readonly log: readonly AdaptationRecord[]
  readonly passthrough: Passthrough
  /** The spaces that its vectors live in. */
  readonly spaces: readonly EmbeddingSpace[]
  /** In the order in which they were stored. Only to be walked while the reading lasts. */
  memories(): Iterable<ArchivedMemory>
  /** The same for the same persona, another one as soon as anything of it is changed but a vector. One row is read for it. */
  fingerprint(): string
  /** Compares everything with its seal. */
  seals(): SealReport
}

/** Backs up a persona that is replaced. */
export interface ReplacedBackup {
  /** Called before the transaction, each time that it is tried: writes the file of a large persona. */
  prepare(): Promise<void>
  /**
   * Called inside the transaction: the backup of what is replaced. Undefined when that is too much to be written there,
   * and has changed since `prepare`; then all of it is tried once more.
   */
  take(replaced: ArchivedPersona): BackupRow | undefined
}

/** A whole persona that arrives. */
export interface PersonaWrite {
  /** The new persona, or all new fields of the one that is replaced or merged into. */
  readonly persona: Persona
  /** `create`: it must not be there. `replace`: everything it had goes. `merge`: memories are added, the log grows. */
  readonly how: 'create' | 'replace' | 'merge'
  /** May be walked more than once. */
  memories(): Iterable<IncomingMemory>
  /** How many they are. */
  readonly count: number
  /** Bytes that they will take on the disk, roughly. */
  readonly weight: number
  /** Makes the log: the whole of it, or for `merge` what is added after the head. */
  log(head: LogHead, learned: Learned): { readonly records: readonly AdaptationRecord[]; readonly learned: Learned }
  readonly passthrough: Passthrough
  /** Backs up what is replaced; the row is written with the rest. */
  readonly backup?: ReplacedBackup
  /** Called in the transaction with the number of memories that the persona then has; throws where they are too many. */
  admit?(memories: number): void
  /** Do everything, then take it back: says what would happen. */
  readonly dryRun?: boolean
}

/** Reads and writes whole personas. */
export interface PersonaArchive {
  /** Hands the persona to `use` in one consistent view; `undefined` when that user has no such persona. */
  read<T>(scope: Scope, use: (archived: ArchivedPersona) => T): Promise<T | undefined>
  /** How much it is; nothing when that user has no such persona. What it costs to ask does not grow with it. */
  extent(scope: Scope): Extent
  /**
   * All of it, or nothing: what is many is written in short slices that nobody sees, between which others are served, and
   * one short transaction puts it in its place. Rejects when `signal` is aborted before that, with `too_large` when the
   * owner would have more than is allowed, and with `busy` when the persona is changed all the time. Resolves with the
   * number of memories that were new.
   */
  write(arrival: PersonaWrite, signal?: AbortSignal): Promise<{ readonly memories: number }>
}

/** How much a persona is. */
export interface Extent {
  readonly memories: number
  /** Records of the log. */
  readonly records: number
  /** Of everything that it holds. */
  readonly bytes: number
}

/** Up to this much is read or written in some milliseconds, and in this process. */
const small: Extent = { memories: 200, records: 200, bytes: 128 * 1024 }

/** Whether a persona is read or written sooner than a process starts, and than others mind waiting. */
export function isSmall({ memories, records, bytes }: Extent): boolean {
  return memories <= small.memories && records <= small.records && bytes <= small.bytes
}
