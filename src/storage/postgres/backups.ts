import type { BackupStore } from '../../personas/package/backup-store.ts'
import type { Context } from './context.ts'

/** Backups of personas in PostgreSQL. */
export function createBackupStore(_context: Context): BackupStore {
  throw new Error('Not written yet')
}
