import { isDeepStrictEqual } from 'node:util'
import { AppError, toAppError } from '../errors.ts'
import { counted, parseJson } from '../formats/formats.ts'
import { baseKeyName, type KeyHosts } from './key-rules.ts'
import { type Keys, namesOf } from './keys.ts'
import {
  endpointsOf,
  kindOf,
  type ManifestRules,
  type PluginKind,
  type PluginManifest,
  parseManifest,
} from './manifest.ts'
import { manifestWarnings } from './manifest-warnings.ts'
import { pluginNotFound } from './not-found.ts'
import type { PluginStore } from './store.ts'

/** The state of a plugin, as shown to its user. */
export type PluginState = 'ready' | 'key_missing' | 'retired'

/** A plugin document with its state in this installation. */
export type PluginView = PluginManifest & {
  readonly active: boolean
  readonly source: 'bundled' | 'user'
  /** A bundled plugin that an overlay in the data folder stands before. */
  readonly overridden: boolean
  readonly key_set: boolean
  readonly state: PluginState
}

/** A document in the data folder that cannot be used; the others go on without it. */
export interface BrokenPlugin {
  readonly id: string
  readonly problems: readonly string[]
}

export type PluginHost = ReturnType<typeof createPluginHost>

export interface HostParts {
  readonly store: PluginStore
  readonly keys: Pick<Keys, 'isSet'>
  /** The operator's rules of the moment. */
  readonly rules: () => OperatorRules
}

export interface OperatorRules {
  readonly keyNames: readonly string[]
  readonly allowPrivate: boolean
  /** Where else the operator lets keys go, in addition to their providers' hosts. */
  readonly keyHosts: KeyHosts
  /** The most plugins in all, bundled ones included. */
  readonly limit: number
}

interface Entry {
  readonly manifest: PluginManifest
  readonly source: 'bundled' | 'user'
  readonly overridden: boolean
}

interface Loaded {
  readonly version: string
  readonly entries: ReadonlyMap<string, Entry>
  readonly bundled: ReadonlyMap<string, PluginManifest>
  readonly hidden: ReadonlySet<string>
  readonly active: ReadonlyMap<PluginKind, string | undefined>
  readonly broken: readonly BrokenPlugin[]
  readonly rules: ManifestRules
}

/** The bundled documents that this process has parsed, by text and key names: every host of the process has the same ones. */
const bundledManifests = new Map<string, PluginManifest>()

function bundledManifest(id: string, text: string, rules: ManifestRules): PluginManifest {
  const key = [id, text, ...rules.keyNames].join('\n')
  const manifest = bundledManifests.get(key) ?? storedManifest(id, text, rules)
  bundledManifests.set(key, manifest)
  return manifest
}

/** Throws `invalid` with every problem. */
function storedManifest(id: string, text: string, rules: ManifestRules): PluginManifest {
  const manifest = parseManifest(parseJson(text, `the plugin ${id}`), rules)
  if (manifest.id !== id)
    throw new AppError('invalid', 'Invalid plugin', { details: [`id: must be "${id}", as its file is named`] })
  return manifest
}

/** Within this many milliseconds a change by another process may go unseen. */
const freshMs = 5

/** The plugins of this installation. Changes by another process are seen a few milliseconds later. */
export function createPluginHost({ store, keys, rules: operatorRules }: HostParts) {
  let loaded: Loaded | undefined
  let checkedAt = 0
  /** The last good version of each document. */
  const parsed = new Map<string, { readonly text: string; readonly manifest: PluginManifest }>()
  let rulesAnew = false
  const inLine = createLine()

  return {
    list: () => [...current().entries.keys()].map(view),
    /** Throws `not_found` with the nearest names. */
    get: (id: string) => view(known(id)),
    find: (id: string) => current().entries.get(id)?.manifest,
    active: (kind: PluginKind) => {
      const { active, entries } = current()
      const id = active.get(kind)
      return id === undefined ? undefined : entries.get(id)?.manifest
    },
    broken: () => current().broken,
    /** Reads all plugins again by the operator's rules; those that cannot be read keep the version before. */
    reload(): readonly BrokenPlugin[] {
      loaded = undefined
      rulesAnew = true
      return current().broken
    },
    /** The operator's rules: which variables may be keys, and where the bundled plugins' keys may go. */
    keyRules: () => current().rules,
    /** Checks a document without storing it; throws `invalid` with every problem. */
    validate: (document: unknown) => parseManifest(document, current().rules),
    /** Warnings about a valid document that will not work as its author meant. */
    warnings: (manifest: PluginManifest) => manifestWarnings(manifest, new Set(current().entries.keys())),
    /** Stores a new plugin. An id that is taken is `invalid` unless `replace` is set. */
    install: inLine(async (document: unknown, { replace = false }: { readonly replace?: boolean | undefined } = {}) => {
      const manifest = parseManifest(document, current().rules)
      if (!replace && current().entries.has(manifest.id)) {
        throw new AppError('invalid', `Plugin "${manifest.id}" already exists`, {
          details: ['Replace it (--force; over HTTP ?replace=true), or give the new one another id'],
        })
      }
      await put(manifest)
      return view(manifest.id)
    }),
    /** Replaces a plugin by a whole document with the same id. */
    update: inLine((id: string, document: unknown) => replace(id, () => document)),
    /** The same with a document that is made of the present one; no other change of this process comes between. */
    revise: inLine(replace),
    /** Removes an overlay (a bundled plugin comes back), a user's plugin, or hides a bundled one. */
    remove: inLine(async (id: string) => {
      const { entries, bundled, active } = current()
      const entry = entries.get(known(id))!
      const kind = kindOf(entry.manifest)
      const removed = await store.remove(id)
      if (!removed && bundled.has(id)) await store.setHidden(id, true)
      if (active.get(kind) === id) await store.setActive(kind, undefined)
      loaded = undefined
      return { id, removed: true as const, restored: current().entries.has(id) }
    }),
    activate: inLine(async (id: string) => {
      const manifest = current().entries.get(known(id))!.manifest
      await store.setActive(kindOf(manifest), id)
      loaded = undefined
      return view(id)
    }),
    /** Deactivates the active plugin of a kind; undefined when none was. */
    deactivate: inLine(async (kind: PluginKind) => {
      const id = current().active.get(kind)
      if (id !== undefined) await store.setActive(kind, undefined)
      loaded = undefined
      return id
    }),
    /** The document alone, for installation on another machine. */
    export: (id: string) => current().entries.get(known(id))!.manifest,
  }

  function current(): Loaded {
    // A busy daemon asks several times for one request: the folder is looked at once in a few milliseconds.
    const now = performance.now()
    if (loaded && now - checkedAt < freshMs) return loaded
    const version = store.version()
    if (loaded?.version !== version) loaded = load(version)
    checkedAt = now
    return loaded
  }

  function load(version: string): Loaded {
    const stored = store.read()
    const broken: BrokenPlugin[] = []
    const bundled = new Map<string, PluginManifest>()
    const { keyNames, allowPrivate, keyHosts } = operatorRules()
    const shipped: ManifestRules = { keyNames, allowPrivate: true, pinned: new Map() }
    for (const [id, text] of stored.bundled)
      attempt(`bundled ${id}`, text, shipped, broken, (manifest) => bundled.set(id, manifest))
    const rules: ManifestRules = { keyNames, allowPrivate, pinned: pinnedKeys(bundled.values(), keyHosts) }
    const entries = new Map<string, Entry>()
    for (const [id, manifest] of bundled) {
      if (!stored.hidden.has(id)) entries.set(id, { manifest, source: 'bundled', overridden: false })
    }
    // The key's address is checked at use: a plugin that may no longer use its key fails with an error, instead of giving
    // way to the bundled one, which asks another host.
    const lenient: ManifestRules = { ...rules, pinned: new Map() }
    for (const [id, text] of stored.overlays) {
      attempt(`overlay ${id}`, text, lenient, broken, (manifest) => {
        const shipped = bundled.has(id)
        entries.set(id, { manifest, source: shipped ? 'bundled' : 'user', overridden: shipped })
      })
    }
    for (const key of parsed.keys())
      if (key.startsWith('overlay ') && !stored.overlays.has(key.slice('overlay '.length))) parsed.delete(key)
    rulesAnew = false
    return { version, entries, bundled, hidden: stored.hidden, active: stored.active, broken, rules }
  }

  /**
   * Parses a stored text once; the same text is not parsed again at the next change of something else. The last good version
   * of a document that cannot be read any more stays in force.
   */
  function attempt(
    key: string,
    text: string,
    rules: ManifestRules,
    broken: BrokenPlugin[],
    use: (manifest: PluginManifest) => void,
  ): void {
    const id = key.slice(key.indexOf(' ') + 1)
    const before = parsed.get(key)
    if (before?.text === text && !rulesAnew) {
      use(before.manifest)
      return
    }
    try {
      const manifest = key.startsWith('bundled ') ? bundledManifest(id, text, rules) : storedManifest(id, text, rules)
      parsed.set(key, { text, manifest })
      use(manifest)
    } catch (reason) {
      const { message, details } = toAppError(reason)
      broken.push({ id, problems: details.length > 0 ? details : [message] })
      if (before) use(before.manifest)
    }
  }

  async function replace(id: string, change: (current: PluginManifest) => unknown): Promise<PluginView> {
    const document = change(current().entries.get(known(id))!.manifest)
    const manifest = parseManifest(document, current().rules)
    if (manifest.id !== id)
      throw new AppError('invalid', 'Invalid plugin', { details: [`id: must be "${id}", as in the address`] })
    await put(manifest)
    return view(id)
  }

  async function put(manifest: PluginManifest): Promise<void> {
    const { bundled, hidden, entries, active, broken } = current()
    const { limit } = operatorRules()
    const before = entries.get(manifest.id)
    const kept = new Set([...entries.keys(), ...broken.map(({ id }) => id)])
    if (!kept.has(manifest.id) && kept.size >= limit)
      throw new AppError('invalid', `The limit of ${counted(limit, 'plugin')} is reached`, {
        details: ['Remove one, or raise the limit: PLUGIN_LIMIT (plugins.limit)'],
      })
    if (isDeepStrictEqual(bundled.get(manifest.id), manifest)) await store.remove(manifest.id)
    else {
      // The first overlay over a bundled plugin has no file before it: the bundled document is kept first.
      if (before && !before.overridden && before.source === 'bundled')
        await store.keepBackup(manifest.id, before.manifest)
      await store.write(manifest.id, manifest)
    }
    if (hidden.has(manifest.id)) await store.setHidden(manifest.id, false)
    // A plugin that changes its kind is no longer the active one of the old kind.
    if (before && kindOf(before.manifest) !== kindOf(manifest) && active.get(kindOf(before.manifest)) === manifest.id) {
      await store.setActive(kindOf(before.manifest), undefined)
    }
    loaded = undefined
  }

  function known(id: string): string {
    const { entries } = current()
    if (entries.has(id)) return id
    throw pluginNotFound(id, [...entries.keys()])
  }

  function view(id: string): PluginView {
    const { entries, active } = current()
    const { manifest, source, overridden } = entries.get(id)!
    const keySet = keys.isSet(manifest)
    const retired = manifest.status?.state === 'retired'
    return {
      ...manifest,
      active: active.get(kindOf(manifest)) === id,
      source,
      overridden,
      key_set: keySet,
      state: retired ? 'retired' : keySet ? 'ready' : 'key_missing',
    }
  }
}

/** Runs changes one after the other: each looks at the plugins as the one before has left them. */
function createLine(): <A extends unknown[], R>(change: (...given: A) => Promise<R>) => (...given: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve()
  return (change) =>
    (...given) => {
      const result = last.then(() => change(...given))
      last = result.catch(() => undefined)
      return result
    }
}

/** Each bundled key name with the hosts of its provider, and every name with those that the operator allows. */
function pinnedKeys(manifests: Iterable<PluginManifest>, allowed: KeyHosts): KeyHosts {
  const pinned = new Map<string, Set<string>>()
  const pin = (key: string, host: string) => {
    const name = baseKeyName(key)
    pinned.set(name, (pinned.get(name) ?? new Set()).add(host))
  }
  for (const manifest of manifests)
    for (const name of namesOf(manifest)) for (const [, url] of endpointsOf(manifest)) pin(name, new URL(url).host)
  for (const [name, hosts] of allowed) for (const host of hosts) pin(name, host)
  return new Map([...pinned].map(([name, hosts]) => [name, [...hosts]]))
}
