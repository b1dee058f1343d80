import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { PluginKind, PluginStore, StoredPlugins } from '../../plugins/plugins.ts'
import { listFolder, removeFile, replaceFile, sweepTemporary } from './atomic.ts'

const kinds: readonly PluginKind[] = ['chat', 'embedding', 'tts']

/** Where the plugins lie. */
export interface PluginPlaces {
  /** The data folder; its own plugins are in a folder in it. */
  readonly folder: string
  /** The folder of the bundled plugins, which is never written. */
  readonly bundledPlugins: string
}

/** The plugins of an installation. */
export function openPlugins({ folder, bundledPlugins }: PluginPlaces): PluginStore {
  return openPluginFiles(bundledPlugins, join(folder, 'plugins'))
}

/** The bundled documents by id, in the order of the ids. */
export function bundledDocuments(folder: string): ReadonlyMap<string, string> {
  return documents(folder, listFolder(folder))
}

/**
 * Plugins as files: the bundled folder is read only; the data folder holds overlays (`ID.json`), the file before the
 * last change (`ID.json.backup`), marks of hidden bundled plugins (`ID.hidden`) and the active ones (`active-KIND`).
 * Each thing is a file of its own, replaced atomically, so that two processes never lose each other's change.
 */
export function openPluginFiles(bundledFolder: string, folder: string): PluginStore {
  const overlay = (id: string) => join(folder, `${id}.json`)
  sweepTemporary(folder)
  return {
    version() {
      const stat = statSync(folder, { throwIfNoEntry: false, bigint: true })
      // Within the clock's granularity a second change may hide behind the first: such a version is never the same twice.
      const fresh = stat && Date.now() - Number(stat.mtimeMs) < 50
      return stat ? `${stat.ino}:${stat.mtimeNs}${fresh ? `:${process.hrtime.bigint()}` : ''}` : ''
    },
    read(): StoredPlugins {
      const names = listFolder(folder)
      return {
        bundled: bundledDocuments(bundledFolder),
        overlays: documents(folder, names),
        hidden: new Set(
          names.filter((name) => name.endsWith('.hidden')).map((name) => name.slice(0, -'.hidden'.length)),
        ),
        active: new Map(kinds.map((kind) => [kind, readText(join(folder, `active-${kind}`))?.trim() || undefined])),
      }
    },
    async write(id, document) {
      const before = readText(overlay(id))
      if (before !== undefined) replaceFile(`${overlay(id)}.backup`, before)
      replaceFile(overlay(id), `${JSON.stringify(document, null, 2)}\n`)
    },
    backup(id) {
      return readText(`${overlay(id)}.backup`)
    },
    async keepBackup(id, document) {
      replaceFile(`${overlay(id)}.backup`, `${JSON.stringify(document, null, 2)}\n`)
    },
    async remove(id) {
      removeFile(`${overlay(id)}.backup`)
      return removeFile(overlay(id))
    },
    async setHidden(id, hidden) {
      if (hidden) replaceFile(join(folder, `${id}.hidden`), '')
      else removeFile(join(folder, `${id}.hidden`))
    },
    async setActive(kind, id) {
      if (id === undefined) removeFile(join(folder, `active-${kind}`))
      else replaceFile(join(folder, `active-${kind}`), `${id}\n`)
    },
  }
}

function documents(folder: string, names: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of [...names].sort()) {
    if (!name.endsWith('.json') || name.startsWith('.')) continue
    const text = readText(join(folder, name))
    if (text !== undefined) found.set(name.slice(0, -'.json'.length), text)
  }
  return found
}

/** A file's text, or undefined where there is none or it cannot be read: one bad file must not stop the others. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
