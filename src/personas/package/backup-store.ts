import type { Scope } from '../memory/memory.ts'
import type { BackupRow } from './outcomes.ts'

export interface BackupStore {
  add(scope: Scope, row: BackupRow): Promise<void>
  /** Newest first. */
  list(scope: Scope): Promise<readonly BackupRow[]>
  remove(scope: Scope, backupId: string): Promise<void>
  /** Whether a backup of that id exists: a package without a row is left over from a crash or a removed persona. */
  isKnown(backupId: string): Promise<boolean>
}

/** Keeps the packages of backups, wherever the storage has them. One is pending, under its process, until its row is stored. */
export interface BackupFiles {
  /** A path of this machine at which a backup is to be written. */
  pending(backupId: string): Promise<string>
  /** Makes the written file durable; resolves with its size in bytes. */
  keep(backupId: string): Promise<number>
  /** Its row is stored: it is pending no more. */
  publish(backupId: string): Promise<void>
  /** Removes a pending one. */
  discard(backupId: string): Promise<void>
  /** A backup as a file of this machine, also one that is pending in another process; undefined where it is gone. */
  open(backupId: string): Promise<BackupFile | undefined>
  /**
   * Puts the written package of `pendingId` in the place of the one of `row`, together with its row: checksum, content hash,
   * bytes and memories become those of `row`. False where the stored row has another checksum than `expected`: then nothing
   * was changed. Either way `pendingId` is pending no more. A crash leaves the whole old package or the whole new one.
   */
  exchange(pendingId: string, row: BackupRow, expected: string): Promise<boolean>
  /** Removes a published one. */
  remove(backupId: string): Promise<void>
  /**
   * Removes those without a row: of removed personas, and of a process that was killed while it wrote one. A pending one with a
   * row is whole (its process was killed before it was published) and is published.
   */
  sweep(): Promise<void>
}

export interface BackupFile {
  readonly path: string
  /** The path is not read any more. */
  close(): void
}
