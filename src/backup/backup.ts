/**
 * Backups of everything: made and read in a child process, kept in a folder by a schedule, restored by a journal that survives
 * a crash at any step.
 * Uses: `storage` for copies of the database, `personas` for packages, the tools; modern-tar.
 * Begin with: `backups.ts`, `manifest.ts` (the parts of a backup), `restore.ts`.
 */
export { type BackupSource, type Backups, createBackups, type OpenOptions, type VerifiedBackup } from './backups.ts'
export { folderTarget } from './folder-target.ts'
export type { KeptBackup } from './target.ts'
