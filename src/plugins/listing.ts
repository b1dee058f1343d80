import { AppError } from '../errors.ts'
import type { PluginHost, PluginView } from './host.ts'
import type { Keys } from './keys.ts'
import { fetchRows, type PageParts } from './list-pages.ts'
import type { PluginManifest } from './manifest.ts'

/** The lists that providers publish of their models: the plugins with one, and its rows. */
export type Listing = ReturnType<typeof createListing>

export interface ListingParts extends Omit<PageParts, 'keyHeader' | 'refusedAdvice' | 'redact' | 'signal' | 'endsAt'> {
  readonly host: Pick<PluginHost, 'list' | 'get'>
  readonly keys: Pick<Keys, 'headerFor' | 'refusedAdvice' | 'redact'>
  /** Milliseconds that one provider's list may take in all. */
  readonly totalMs: number
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** Reads the lists of installed plugins with their keys, each list within `totalMs`. */
export function createListing(parts: ListingParts) {
  const { host, keys, now } = parts
  return {
    /**
     * The plugins of these ids, or all that have a list. Throws `not_found` for an unknown one, `configuration` for a
     * named one without its key, `invalid` for a named one without a `models_source`.
     */
    chosen(plugins: readonly string[] | undefined): PluginView[] {
      if (plugins === undefined) return host.list().filter((view) => view.models_source !== undefined)
      const views = [...new Set(plugins)].map((id) => host.get(id))
      const without = views.filter((view) => !view.models_source).map((view) => `${view.id}: has no models_source`)
      if (without.length > 0)
        throw new AppError('invalid', 'Only a plugin with a models_source can be refreshed', { details: without })
      const missing = views.filter((view) => !view.key_set).map((view) => view.auth.key_env)
      if (missing.length > 0)
        throw new AppError('configuration', `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} not set`, {
          details: missing.map((name) => `Set it in the environment, or store it: aichat secret set ${name}`),
        })
      return views
    },
    /** Why a plugin that was not named is left out: it is retired or lacks its key. Undefined where it is asked. */
    whySkipped({ status, key_set: keySet, auth }: PluginView): string | undefined {
      if (status?.state === 'retired') return `retired${status.since ? ` since ${status.since}` : ''}`
      return keySet ? undefined : `${auth.key_env} is not set`
    },
    /** All rows of a plugin's list, as the provider sends them. Throws as `fetchRows`. */
    rows: (manifest: PluginManifest, signal?: AbortSignal) =>
      fetchRows(manifest, manifest.models_source!, {
        send: parts.send,
        readError: parts.readError,
        timeouts: parts.timeouts,
        keyHeader: (url) => keys.headerFor(manifest, url),
        refusedAdvice: () => keys.refusedAdvice(manifest),
        redact: keys.redact,
        endsAt: now() + parts.totalMs,
        signal,
      }),
  }
}

/** Providers asked at the same time: the seven of the package take two rounds. */
const atOnce = 4

/** Works on several plugins at once; results come as they are done. */
export async function* several<T extends { readonly plugin: string }>(
  views: readonly PluginView[],
  work: (view: PluginView) => Promise<T>,
): AsyncGenerator<T> {
  const queue = [...views]
  const running = new Map<string, Promise<T>>()
  while (queue.length > 0 || running.size > 0) {
    while (queue.length > 0 && running.size < atOnce) {
      const view = queue.shift()!
      running.set(view.id, work(view))
    }
    const done = await Promise.race(running.values())
    running.delete(done.plugin)
    yield done
  }
}
