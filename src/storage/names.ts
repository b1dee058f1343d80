import type { StoredPlugins } from '../plugins/plugins.ts'
import type { StorageSettings } from './open-storage.ts'
import type { NamedKind, NameOwner } from './shared/names.ts'

export type { NamedKind }

type Place = Pick<StorageSettings, 'folder' | 'bundledPlugins'> & { readonly url?: string | undefined }

/**
 * Reads the names or ids of records, the newest first, over a connection that cannot write: for completions, which load nothing
 * else and must make no database. Rejects where there is none, or where it does not answer soon.
 */
export async function readNames({ folder, url }: Place, kind: NamedKind, owner: NameOwner): Promise<readonly string[]> {
  if (url !== undefined) return (await import('./postgres/names.ts')).readPostgresNames(url, kind, owner)
  return (await import('./sqlite/names.ts')).readSqliteNames(folder, kind, owner)
}

/** Reads the documents of the plugins, likewise. */
export async function readPluginDocuments(
  place: Place,
): Promise<Pick<StoredPlugins, 'bundled' | 'overlays' | 'hidden'>> {
  if (place.url !== undefined)
    return (await import('./postgres/names.ts')).readPostgresPlugins(place.url, place.bundledPlugins)
  return (await import('./files/plugins.ts')).openPlugins(place).read()
}
