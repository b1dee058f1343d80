import type { AdaptationRecord, LogHead } from '../adaptation/log.ts'
import type { Learned } from '../adaptation/state.ts'
import type { Fields } from '../fields.ts'
import type { EmbeddingSpace, MemoryEntry, NewMemory, Scope } from '../memory/memory.ts'
import type { Persona } from '../persona.ts'
import type { Profile } from '../profile/profile.ts'
import type { BackupRow } from './outcomes.ts'

/** Parts of an imported package without a place in the store, exported again unchanged. */
export interface Passthrough {
  /** Unknown top-level fields. */
  readonly extra?: Fields
  readonly metadata?: Fields
  /** Unknown fields of the state. */
  readonly state?: Fields
  /** The persona's earlier exports, oldest first. */
  readonly lineage?: readonly Fields[]
  readonly card?: Fields
  /** A PNG in base64. */
  readonly portrait?: string
}

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

/** A mark of a persona's content, compared for equality: another after each write but of vectors and backups. */
export type Revision = string

/** The most that one batch of a snapshot holds, some milliseconds' work; a single larger row is a batch of its own. */
export const snapshotBatch = { rows: 100, bytes: 256 * 1024 } as const

/** One state of a whole persona, read while others write. Batches come in the order in which their rows were stored. */
export interface PersonaSnapshot {
  readonly revision: Revision
  readonly persona: Persona
  /** The stored state; the log may give another one. */
  readonly learned: Learned
  readonly profile: Profile
  readonly passthrough: Passthrough
  readonly spaces: readonly EmbeddingSpace[]
  /** The end of the log and the state that it gives, to which a next record is chained. */
  end(): Promise<LogEnd>
  log(): AsyncIterable<readonly AdaptationRecord[]>
  memories(): AsyncIterable<readonly ArchivedMemory[]>
  /** One sentence for each memory whose text has another digest than the stored one, and for a wrong number of memories. */
  differences(): Promise<readonly string[]>
  /** Gives the state back, so that the storage may remove rows that only this snapshot sees. May be called again. */
  close(): Promise<void>
}

export interface LogEnd {
  readonly head: LogHead
  readonly learned: Learned
}

export interface PersonaWrite {
  /** The new persona, or all new fields of the replaced or merged one. */
  readonly persona: Persona
  /** `create`: it must not exist. `replace`: all its data is removed. `merge`: memories are added, the log grows. */
  readonly how: 'create' | 'replace' | 'merge'
  /** May be called more than once. */
  memories(): Iterable<IncomingMemory>
  readonly count: number
  /** Bytes that they take on the disk, roughly. */
  readonly weight: number
  /** The whole log, or for `merge` the records after its end; and the state after the last of them. */
  readonly log: { readonly records: readonly AdaptationRecord[]; readonly learned: Learned }
  /** Not for `merge`, which leaves that of the persona. */
  readonly passthrough: Passthrough
  /** The same; without it the persona has none. */
  readonly profile?: Profile
  /** The most memories that the persona may have afterwards; without it any number. */
  readonly maxMemories?: number
}

/** The preconditions of a write, and the row that comes with it. */
export interface PublishConditions {
  /** The revision of the persona that is replaced or merged into; for another one the outcome is `changed`. */
  readonly expected?: Revision
  /** The backup of the replaced persona, of the same revision; its row is written in the same transaction. */
  readonly backup?: BackupRow
}

/** The outcome of a write; where it is not `done`, nothing was written. */
export type Outcome =
  /** With the number of new memories. */
  | { readonly kind: 'done'; readonly memories: number }
  /** The persona is of another revision. */
  | { readonly kind: 'changed' }
  /** With the number of memories that the persona would have, more than `maxMemories`. */
  | { readonly kind: 'too_many'; readonly memories: number }

/** A write that is prepared in the storage, where no reader sees any of it. */
export interface StagedPersona {
  /**
   * Publishes the whole of it in one short transaction. After `changed`, a `replace` may be published again under a newer
   * revision; a `merge` holds the memories of its revision and has to be staged anew. Rejects with `too_large` beyond the
   * owner's quota, and with `not_found` where the persona or its owner is gone or the id is taken.
   */
  publish(conditions: PublishConditions): Promise<Outcome>
  /** Removes the rest of it, and of a replaced persona, from the disk. Always called last; never rejects. */
  discard(): Promise<void>
}

export interface PersonaArchive {
  /** Undefined when that user has no such persona. The caller closes it: see `readSnapshot`. */
  snapshot(scope: Scope): Promise<PersonaSnapshot | undefined>
  /** The persona's size, in constant time; zeros when that user has no such persona. */
  extent(scope: Scope): Promise<Extent>
  /** The first greeting of the persona's character card, as the card has it; undefined for none. */
  greeting(scope: Scope): Promise<unknown>
  /**
   * Brings a write into the storage: a large one in invisible slices, yielding to the event loop between them. Rejects when
   * `signal` is aborted, and with `too_large` when it is beyond the owner's quota already; then nothing is left of it.
   */
  stage(write: PersonaWrite, signal?: AbortSignal): Promise<StagedPersona>
  /** The outcome that the write would have now, at any revision; writes nothing. */
  dryRun(write: PersonaWrite, signal?: AbortSignal): Promise<Outcome>
  /** Removes the unfinished writes of ended processes. */
  sweep(): Promise<void>
}

/** Calls `use` with a snapshot that is closed when it ends, however it ends; undefined when that user has no such persona. */
export async function readSnapshot<T>(
  archive: Pick<PersonaArchive, 'snapshot'>,
  scope: Scope,
  use: (snapshot: PersonaSnapshot) => Promise<T>,
): Promise<T | undefined> {
  const snapshot = await archive.snapshot(scope)
  if (!snapshot) return undefined
  try {
    return await use(snapshot)
  } finally {
    await snapshot.close()
  }
}

/** Stages and publishes a write with conditions that are known before. */
export async function writeWhole(
  archive: Pick<PersonaArchive, 'stage'>,
  write: PersonaWrite,
  conditions: PublishConditions,
  signal?: AbortSignal,
): Promise<Outcome> {
  const staged = await archive.stage(write, signal)
  try {
    signal?.throwIfAborted()
    return await staged.publish(conditions)
  } finally {
    await staged.discard()
  }
}

export interface Extent {
  readonly memories: number
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
