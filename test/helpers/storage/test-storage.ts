import { join } from 'node:path'
import { openStorage, type Storage, type StorageSettings } from '../../../src/storage/open-storage.ts'
import { createChanges } from '../../../src/storage/sqlite/changes.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { createSqliteDriver } from '../../../src/storage/sqlite/driver.ts'
import { createMemoryStore } from '../../../src/storage/sqlite/memories.ts'
import { removeHidden } from '../../../src/storage/sqlite/removal.ts'
import { createPersonaStore } from '../../../src/storage/stores/personas.ts'

/** The storage settings of a data folder without bundled plugins and limits. */
export function storageIn(folder: string): StorageSettings {
  return { folder, bundledPlugins: join(folder, 'bundled'), limits: { memories: 1e9, bytes: 1e15 } }
}

/** Opens the storage of a data folder as the product does. */
export function openStorageIn(folder: string): Promise<Storage> {
  return openStorage(storageIn(folder))
}

/** An open SQLite database as the stores see it. */
export function driverOf(db: Database) {
  return createSqliteDriver(
    db,
    createChanges(db, () => ''),
    () => removeHidden(db),
  )
}

/** The personas of an open SQLite database, without limits. */
export function personaStoreOf(db: Database) {
  return createPersonaStore(driverOf(db))
}

/** The memories of an open SQLite database, without limits. */
export function memoryStoreOf(db: Database) {
  return createMemoryStore(db, driverOf(db))
}
