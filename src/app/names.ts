import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../settings/settings.ts'
import { type NamedKind, readNames, readPluginDocuments } from '../storage/storage.ts'
import { packageFolder } from './package-folder.ts'

/** Names of this installation, for the completions of a shell: read directly, since loading the areas takes longer. */
export interface Names {
  /**
   * Names or ids of records; `persona` is the owner of memories or backups. None of a database that instances share. Rejects
   * where nothing is stored yet.
   */
  records(kind: NamedKind, persona?: string): Promise<readonly string[]>
  /** The servers of tools, as far as their file can be read. */
  toolServers(): readonly string[]
  /** The installed plugins, as far as their documents can be read. */
  plugins(): Promise<readonly NamedPlugin[]>
}

export interface NamedPlugin {
  readonly id: string
  readonly models: readonly string[]
  readonly key: string | undefined
}

/** Opens the names of an installation; nothing is read before it is asked for. */
export function openNames({ paths, database, singleUserMode, defaultAdmin }: Settings): Names {
  return {
    async records(kind, persona) {
      const administrator = singleUserMode ? defaultAdmin.username : undefined
      return database ? [] : readNames(paths.data, kind, { administrator, persona })
    },
    toolServers() {
      const { servers } = JSON.parse(readFileSync(join(paths.config, 'mcp.json'), 'utf8')) as { servers?: object }
      return Object.keys(servers ?? {})
    },
    async plugins() {
      const { bundled, overlays, hidden } = await readPluginDocuments({
        folder: paths.data,
        bundledPlugins: packageFolder('plugins'),
      })
      const shipped = [...bundled].filter(([id]) => !hidden.has(id))
      return [...new Map([...shipped, ...overlays])].flatMap(([id, text]) => pluginIn(id, text) ?? [])
    },
  }
}

function pluginIn(id: string, text: string): NamedPlugin | undefined {
  try {
    const { model_map: models, auth } = JSON.parse(text) as { model_map?: unknown; auth?: { key_env?: unknown } }
    const key = auth?.key_env
    return {
      id,
      models: Array.isArray(models) ? models.filter((name) => typeof name === 'string') : [],
      key: typeof key === 'string' && key !== '' ? key : undefined,
    }
  } catch {
    return undefined
  }
}
