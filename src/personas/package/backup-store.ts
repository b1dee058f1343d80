import type { Scope } from '../memory/memory.ts'

/** Requested, or made before a replacement. */
export type BackupReason = 'manual' | 'before_restore' | 'before_import'

/** A backup; its package is a file beside the database. */
export interface BackupRow {
  readonly backup_id: string
  readonly persona_id: string
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  readonly reason: BackupReason
  readonly checksum: string
  readonly content_hash: string
  readonly bytes: number
  readonly memories: number
  readonly adaptations: number
}

/** Stores the rows of backups. */
export interface BackupStore {
  add(scope: Scope, row: BackupRow): Promise<void>
  /** Newest first. */
  list(scope: Scope): Promise<readonly BackupRow[]>
  remove(scope: Scope, backupId: string): Promise<void>
  /** Whether a backup of that id exists: a file without a row is left over from a crash or a removed persona. */
  isKnown(backupId: string): Promise<boolean>
}
