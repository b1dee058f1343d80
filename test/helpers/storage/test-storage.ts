import { join } from 'node:path'
import { openStorage, type Storage, type StorageSettings } from '../../../src/storage/storage.ts'

/** The storage settings of a data folder without bundled plugins and limits. */
export function storageIn(folder: string): StorageSettings {
  return { folder, bundledPlugins: join(folder, 'bundled'), limits: { memories: 1e9, bytes: 1e15 } }
}

/** Opens the storage of a data folder as the product does. */
export function openStorageIn(folder: string): Promise<Storage> {
  return openStorage(storageIn(folder))
}
