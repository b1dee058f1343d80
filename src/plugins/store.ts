import type { PluginKind, PluginManifest } from './manifest.ts'

/** Stored plugins: JSON texts by id, unparsed, so that one broken document does not affect the others. */
export interface StoredPlugins {
  readonly bundled: ReadonlyMap<string, string>
  readonly overlays: ReadonlyMap<string, string>
  /** Bundled plugins that were deleted and wait to be installed again. */
  readonly hidden: ReadonlySet<string>
  readonly active: ReadonlyMap<PluginKind, string | undefined>
}

/** The storage of the plugin host. Each write is atomic and durable when it returns. */
export interface PluginStore {
  /** Differs after every change, also by another process. Cheap: asked before every use. */
  version(): string
  read(): StoredPlugins
  /** Writes an overlay; the overlay before it is kept as its backup. */
  write(id: string, document: PluginManifest): void
  /** The text that the last write replaced. */
  backup(id: string): string | undefined
  /** Keeps a document as the backup, for a first overlay over a bundled plugin. */
  keepBackup(id: string, document: PluginManifest): void
  /** Removes an overlay and its backup; true when there was one. */
  remove(id: string): boolean
  setHidden(id: string, hidden: boolean): void
  setActive(kind: PluginKind, id: string | undefined): void
}
