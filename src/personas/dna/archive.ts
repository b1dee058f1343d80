import type { AdaptationRecord, LogHead } from '../adaptation/log.ts'
import type { Learned } from '../adaptation/state.ts'
import type { EmbeddingSpace, MemoryEntry, NewMemory, Scope } from '../memory/memory.ts'
import type { Persona } from '../persona.ts'
import type { BackupRow } from './backup-store.ts'

type Fields = Readonly<Record<string, unknown>>

/** What came with an imported package and has no place here; exported again as it came. */
export interface Carried {
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
  readonly carried: Carried
  /** The spaces that its vectors live in. */
  readonly spaces: readonly EmbeddingSpace[]
  /** In the order in which they were stored. Only to be walked while the reading lasts. */
  memories(): Iterable<ArchivedMemory>
  /** The same for the same persona, another one as soon as anything of it is changed. */
  fingerprint(): string
  /** Compares everything with its seal. */
  seals(): SealReport
}

/** A whole persona that arrives. */
export interface Arrival {
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
  readonly carried: Carried
  /** Called with what is replaced in the transaction that does it, to back it up; the row is written with the rest. */
  backup?(replaced: ArchivedPersona): BackupRow
  /** Do everything, then take it back: says what would happen. */
  readonly rehearsal?: boolean
}

/** Reads and writes whole personas. */
export interface PersonaArchive {
  /** Hands the persona to `use` in one consistent view; `undefined` when that user has no such persona. */
  read<T>(scope: Scope, use: (archived: ArchivedPersona) => T): Promise<T | undefined>
  /** How many memories it has; 0 when that user has no such persona. */
  size(scope: Scope): number
  /**
   * All of it, or nothing: what is many is written in short slices that nobody sees, between which others are served, and
   * one transaction puts it in its place. Rejects when `signal` is aborted before that. Resolves with the number of
   * memories that were new.
   */
  write(arrival: Arrival, signal?: AbortSignal): Promise<{ readonly memories: number }>
}

/** A persona of so many memories is read or written sooner than a process starts, and than others mind waiting. */
export const smallPersona = 500
