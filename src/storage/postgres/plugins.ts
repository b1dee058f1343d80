import type { PluginKind, PluginManifest, PluginStore, StoredPlugins } from '../../plugins/plugins.ts'
import { bundledDocuments } from '../files/plugins.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './sql.ts'

interface PluginRow {
  readonly id: string
  readonly document: string | null
  readonly backup: string | null
  readonly hidden: boolean
}

interface Snapshot extends StoredPlugins {
  readonly version: string
  readonly backups: ReadonlyMap<string, string>
}

export interface PluginParts {
  readonly db: Database
  readonly changes: OwnChanges
  /** The folder of the bundled plugins: files of the program, on each machine. */
  readonly bundledPlugins: string
}

const kinds: readonly PluginKind[] = ['chat', 'embedding', 'tts']

/**
 * Plugins in PostgreSQL. Reads are served from memory, which is read again after each change; a write has it read again before
 * it resolves. Of two writers of one plugin, each document is whole, and the later one stays with the earlier as its backup.
 */
export async function openPlugins(parts: PluginParts): Promise<PluginStore> {
  const { db, changes } = parts
  const bundled = bundledDocuments(parts.bundledPlugins)
  let reads = 0
  let snapshot = await read()
  let reading: Promise<void> | undefined
  let isOutdated = false
  changes.onChange('plugins', refreshSoon)

  return {
    version() {
      look()
      return snapshot.version
    },
    read() {
      look()
      return snapshot
    },
    write: (id, document) =>
      change(
        `INSERT INTO plugin (id, document) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET backup = coalesce(plugin.document, plugin.backup), document = excluded.document`,
        [id, textOf(document)],
      ),
    backup: (id) => snapshot.backups.get(id),
    keepBackup: (id, document) =>
      change(
        'INSERT INTO plugin (id, backup) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET backup = excluded.backup',
        [id, textOf(document)],
      ),
    async remove(id) {
      const removed = await changes.writing('plugins', async (tx) => {
        const row = await tx.row<{ document: string | null }>('SELECT document FROM plugin WHERE id = $1 FOR UPDATE', [
          id,
        ])
        await tx.run('UPDATE plugin SET document = NULL, backup = NULL WHERE id = $1', [id])
        await tx.run('DELETE FROM plugin WHERE id = $1 AND NOT hidden', [id])
        return row !== undefined && row.document !== null
      })
      await refresh()
      return removed
    },
    setHidden: (id, hidden) =>
      hidden
        ? change(
            'INSERT INTO plugin (id, hidden) VALUES ($1, true) ON CONFLICT (id) DO UPDATE SET hidden = excluded.hidden',
            [id],
          )
        : change('UPDATE plugin SET hidden = false WHERE id = $1', [id]),
    setActive: (kind, id) =>
      id === undefined
        ? change('DELETE FROM plugin_active WHERE kind = $1', [kind])
        : change(
            'INSERT INTO plugin_active (kind, id) VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET id = excluded.id',
            [kind, id],
          ),
  }

  /** Makes up for a reading that failed; a process that does not poll asks for changes. */
  function look(): void {
    changes.askSoon()
    if (isOutdated && !reading) refreshSoon()
  }

  async function change(text: string, values: readonly unknown[]): Promise<void> {
    await changes.writing('plugins', (tx) => tx.run(text, values))
    await refresh()
  }

  /** Waits for a reading that began after this call. */
  async function refresh(): Promise<void> {
    await reading?.catch(() => {})
    reading ??= readAnew()
    await reading
  }

  function refreshSoon(): void {
    isOutdated = true
    if (!reading) refresh().catch(() => {})
  }

  async function readAnew(): Promise<void> {
    try {
      do {
        isOutdated = false
        snapshot = await read()
      } while (isOutdated)
    } catch (reason) {
      isOutdated = true
      throw reason
    } finally {
      reading = undefined
    }
  }

  async function read(): Promise<Snapshot> {
    const [rows, actives] = await Promise.all([
      db.rows<PluginRow>('SELECT id, document, backup, hidden FROM plugin ORDER BY id'),
      db.rows<{ kind: PluginKind; id: string }>('SELECT kind, id FROM plugin_active'),
    ])
    const active = new Map(actives.map(({ kind, id }) => [kind, id]))
    return {
      version: String(++reads),
      bundled,
      overlays: textsOf(rows, 'document'),
      backups: textsOf(rows, 'backup'),
      hidden: new Set(rows.filter(({ hidden }) => hidden).map(({ id }) => id)),
      active: new Map(kinds.map((kind) => [kind, active.get(kind)])),
    }
  }
}

function textsOf(rows: readonly PluginRow[], column: 'document' | 'backup'): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(({ id, [column]: text }) => (text === null ? [] : [[id, text]])))
}

function textOf(document: PluginManifest): string {
  return JSON.stringify(document, null, 2)
}
