import type { Scope } from '../memory/memory.ts'

/** Asked for, or taken of what was about to be replaced. */
export type BackupReason = 'manual' | 'before_restore' | 'before_import'

/** A backup as the store lists it; its package lies in a file beside the database. */
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

/** The list of backups. */
export interface BackupStore {
  add(scope: Scope, row: BackupRow): Promise<void>
  /** Newest first. */
  list(scope: Scope): Promise<readonly BackupRow[]>
  remove(scope: Scope, backupId: string): Promise<void>
  /** Whether any persona has a backup of that id: a file without one is left over from a crash or a removed persona. */
  isKnown(backupId: string): Promise<boolean>
}
