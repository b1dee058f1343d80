/**
 * Everything that is kept, behind one `Storage` with a store per area, on SQLite or PostgreSQL. A store is written once, in `stores/`,
 * as generators that yield statements (`port/port.ts`); `sqlite/` and `postgres/` run them, `schema/` describes all tables,
 * `transfer/` moves everything between the two, `files/` keeps plugins, secrets and journals, `shared/` holds
 * what both databases need. No other room knows a path of the database or one of its errors.
 * Uses: the interfaces that the areas state, the tools; better-sqlite3, sqlite-vec, pg.
 * Begin with: `open-storage.ts`, `port/port.ts`, `stores/accounts.ts`.
 */
export { listFolder, removeFile, replaceFile } from './files/atomic.ts'
export { dropLock, lockMark, tryLock, whileLocked } from './files/file-lock.ts'
export { movedMarkOf } from './files/moved-mark.ts'
export { openNote } from './files/note.ts'
export { openPlugins } from './files/plugins.ts'
export { finishReplacement, isReplacing, type Move, replaceTogether } from './files/replacement.ts'
export { openSecretFile, type SecretFile } from './files/secrets.ts'
export { ownTokenSecret } from './files/token-secret.ts'
export { openUsageJournal } from './files/usage-journal.ts'
export { isStorageAbsent, openStorage, openStorageCopies, type Storage, type StorageSettings } from './open-storage.ts'
export type { CopiedFiles, RestoredAccounts } from './shared/copies.ts'
export { mayRun, processMark } from './shared/process-mark.ts'
export type { SharedDatabase } from './shared/shared-database.ts'
export type { StorageUse } from './shared/storage-use.ts'
export type { StoredSize } from './shared/stored-size.ts'
export type { CheckControl, DatabaseCheck } from './transfer/check.ts'
