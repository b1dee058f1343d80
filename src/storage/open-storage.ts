import type { AccountStore, KeyStore, LoginFailureStore } from '../accounts/accounts.ts'
import type { ResponseStore } from '../chat/chat.ts'
import type {
  AdaptationStore,
  BackupFiles,
  BackupStore,
  ConversationStore,
  MemoryStore,
  PersonaArchive,
  PersonaStore,
  ProfileStore,
} from '../personas/personas.ts'
import type { PluginStore } from '../plugins/plugins.ts'
import type { LedgerStore, LimitStore, PriceStore } from '../usage/usage.ts'
import type { PostgresSettings } from './postgres/storage.ts'
import type { Changes } from './shared/changes.ts'
import type { StorageCopies } from './shared/copies.ts'
import type { SharedDatabase } from './shared/shared-database.ts'
import type { StorageUse } from './shared/storage-use.ts'
import type { StoredSize } from './shared/stored-size.ts'
import type { SqliteSettings } from './sqlite/storage.ts'

/**
 * The port to everything that this installation keeps: the same for SQLite and PostgreSQL. Each store's interface
 * is in the area that uses it, and `test/storage/contract` holds every implementation to it. All stores fail with
 * AppErrors: `configuration` (damaged or lost), `io` (disk, permissions), `busy` (locked), or their own.
 */
export interface Storage {
  readonly accounts: AccountStore
  /** Failed logins, which count over all processes. */
  readonly loginFailures: LoginFailureStore
  readonly keys: KeyStore
  readonly plugins: PluginStore
  readonly personas: PersonaStore
  readonly memories: MemoryStore
  readonly profiles: ProfileStore
  readonly conversations: ConversationStore
  readonly responses: ResponseStore
  readonly adaptations: AdaptationStore
  /** Whole personas. */
  readonly packages: PersonaArchive
  readonly backups: BackupStore
  readonly backupFiles: BackupFiles
  /** The usage of models: attempts, and their sums. */
  readonly ledger: LedgerStore
  readonly prices: PriceStore
  /** Limits, and the accounts of their budgets. */
  readonly limits: LimitStore
  readonly changes: Changes
  /** The database, where several instances share it. */
  readonly shared: SharedDatabase | undefined
  /** Whether any limit is set: asked by commands, which load nothing of limits where there is none. */
  hasLimits(): boolean
  /** The size of all data, from sums: cheap for any amount. */
  size(): Promise<StoredSize>
  /** Reads everything once; resolves with one line that says where it is, throws `configuration` when it is damaged. */
  check(): Promise<string>
  /** Runs work that saves an answer already given: where a shared database is away, it is tried again for up to 5 s. */
  patiently<R>(work: () => Promise<R>): Promise<R>
  /** Ends the removal of deleted rows after its current slice, for a service that stops; the next start finishes it. */
  deferCleanup(): void
  /** Any work in slices ends with the current one; the next process finishes it. */
  close(): Promise<void>
}

/** Plain data, which a child process can be handed. */
export type StorageSettings = SqliteSettings | PostgresSettings

/** Opens the storage with the newest schema. Throws `configuration` for a damaged, lost or newer one, unchanged. */
export async function openStorage(settings: StorageSettings, use: StorageUse = {}): Promise<Storage> {
  if ('url' in settings) return (await import('./postgres/storage.ts')).openPostgresStorage(settings, use)
  const { openSqliteStorage } = await import('./sqlite/storage.ts')
  return openSqliteStorage(settings, use)
}

/** Whether nothing was ever stored there: a command that only notes something then opens no storage. */
export async function isStorageAbsent(settings: StorageSettings): Promise<boolean> {
  if ('url' in settings) return false
  return (await import('./sqlite/storage.ts')).isSqliteAbsent(settings.folder)
}

/** Copies of the whole database, for backups of everything. */
export async function openStorageCopies(settings: StorageSettings): Promise<StorageCopies> {
  if ('url' in settings) return (await import('./transfer/copies.ts')).postgresCopies(settings)
  return (await import('./sqlite/copies.ts')).sqliteCopies(settings.folder)
}
