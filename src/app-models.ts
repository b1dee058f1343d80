import type { PluginHost } from './plugins/host.ts'
import type { Keys } from './plugins/keys.ts'
import { createModelLists, type ModelLists } from './plugins/refresh.ts'
import type { PluginStore } from './plugins/store.ts'
import type { Settings } from './settings.ts'

/** What concerns models: the providers' lists, and the models on this machine. */
export interface Models {
  readonly lists: ModelLists
  close(): Promise<void>
}

export interface ModelsParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  readonly store: PluginStore
  readonly keys: Keys
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** A provider answers its list within seconds; one that is silent for longer is not waited for. Milliseconds. */
const listTimeouts = { connect: 10_000, firstByte: 30_000, idle: 20_000 }
const listTotal = 60_000

/** The part of the composition root that deals with models. */
export async function openModels({ settings, plugins, store, keys, now }: ModelsParts): Promise<Models> {
  const { openOutbound } = await import('./outbound/agent.ts')
  const outbound = openOutbound({ allowPrivate: settings.pluginAllowPrivate })
  return {
    lists: createModelLists({
      host: plugins,
      store,
      keys,
      send: outbound.send,
      timeouts: listTimeouts,
      totalMs: listTotal,
      now,
      clock: Date.now,
    }),
    close: () => outbound.close(),
  }
}
