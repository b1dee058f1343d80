import type { PluginKind, PluginManifest } from './manifest.ts'

/** Stored plugins: JSON texts by id, unparsed, so that one broken document does not affect the others. */
export interface StoredPlugins {
  readonly bundled: ReadonlyMap<string, string>
  /** In the order of the ids. */
  readonly overlays: ReadonlyMap<string, string>
  /** Bundled plugins that were deleted and wait to be installed again. */
  readonly hidden: ReadonlySet<string>
  readonly active: ReadonlyMap<PluginKind, string | undefined>
}

/**
 * The storage of the plugin host. Reads are synchronous, since every chat needs its plugin: a shared database serves them
 * from a snapshot in memory. Each write is atomic, and durable when it resolves.
 */
export interface PluginStore {
  /** Differs after every change, also by another process. Cheap: asked before every use. */
  version(): string
  read(): StoredPlugins
  /** Writes an overlay; the overlay before it is kept as its backup. */
  write(id: string, document: PluginManifest): Promise<void>
  /** The text that the last write replaced. */
  backup(id: string): string | undefined
  /** Keeps a document as the backup, for a first overlay over a bundled plugin. */
  keepBackup(id: string, document: PluginManifest): Promise<void>
  /** Removes an overlay and its backup; true when there was one. */
  remove(id: string): Promise<boolean>
  setHidden(id: string, hidden: boolean): Promise<void>
  setActive(kind: PluginKind, id: string | undefined): Promise<void>
}
