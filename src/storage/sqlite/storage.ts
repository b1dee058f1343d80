import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlugins, type PluginPlaces } from '../files/plugins.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { StorageUse } from '../shared/storage-use.ts'
import { createAccountStore, refuseLostAccounts } from './accounts.ts'
import { createAdaptationStore } from './adaptations.ts'
import { createBackupStore } from './backups.ts'
import { createChanges } from './changes.ts'
import type { Database } from './connection.ts'
import { createConversationStore } from './conversations.ts'
import { isAbsent, openDatabase, openReader, refuseDamaged } from './database.ts'
import { translated, translating } from './errors.ts'
import { deferCleanup } from './housekeeping.ts'
import { createMemoryStore } from './memories.ts'
import { createPersonaArchive } from './persona-archive.ts'
import { createPersonaStore } from './personas.ts'
import { createQuota } from './quota.ts'

/** A data folder on this machine, with the database in one file and the plugins in files of their own. */
export interface SqliteSettings extends PluginPlaces {
  readonly limits: StoredLimits
}

/** Opens the storage in a data folder, see `openStorage`. A store's statements are prepared at its first use. */
export async function openSqliteStorage(settings: SqliteSettings, use: StorageUse) {
  const isTemporary = use.create === false && isAbsent(pathIn(settings.folder))
  const folder = isTemporary ? mkdtempSync(join(tmpdir(), 'aichat-storage-')) : settings.folder
  const path = pathIn(folder)
  const db = use.readOnly ? openReader(path) : await openForWriting(path, use)
  const plugins = openPlugins(settings)
  const changes = createChanges(db, plugins.version)
  const quota = createQuota(db, settings.limits)
  const readers = new Set<Database>()
  const opened = {
    accounts: atFirstUse(() => createAccountStore(db, changes)),
    personas: atFirstUse(() => createPersonaStore(db, quota)),
    memories: atFirstUse(() => createMemoryStore(db, quota)),
    conversations: atFirstUse(() => createConversationStore(db)),
    adaptations: atFirstUse(() => createAdaptationStore(db, quota)),
    packages: atFirstUse(() => createPersonaArchive(db, readers, quota)),
    backups: atFirstUse(() => createBackupStore(db, quota)),
  }
  return {
    get accounts() {
      return opened.accounts()
    },
    get personas() {
      return opened.personas()
    },
    get memories() {
      return opened.memories()
    },
    get conversations() {
      return opened.conversations()
    },
    get adaptations() {
      return opened.adaptations()
    },
    get packages() {
      return opened.packages()
    },
    get backups() {
      return opened.backups()
    },
    plugins,
    changes,
    async check() {
      if (isTemporary) return 'none yet; its native library loads'
      try {
        refuseDamaged(path)
      } catch (reason) {
        throw translated(reason)
      }
      return `${path} is whole`
    },
    deferCleanup: () => deferCleanup(db),
    async close() {
      for (const reader of readers) reader.close()
      db.close()
      if (isTemporary) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openForWriting(path: string, { check = false }: StorageUse): Promise<Database> {
  const db = await openDatabase(path, { check })
  try {
    refuseLostAccounts(db)
    return db
  } catch (reason) {
    db.close()
    throw reason
  }
}

function pathIn(folder: string): string {
  return join(folder, 'aichat.db')
}

/** Prepared once, when it is asked for; its methods fail with AppErrors. */
function atFirstUse<S extends object>(create: () => S): () => S {
  let store: S | undefined
  return () => {
    store ??= translating(create())
    return store
  }
}
