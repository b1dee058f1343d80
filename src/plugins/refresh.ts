import { isDeepStrictEqual } from 'node:util'
import { AppError, type FailureCode, toAppError } from '../errors.ts'
import { counted, parseJson } from '../formats/formats.ts'
import { chatModels, type ModelRow, nameOf } from './catalog.ts'
import type { PluginHost, PluginView } from './host.ts'
import { factsOfRow } from './listed-facts.ts'
import { type Listing, several } from './listing.ts'
import { isModelName, type ModelsSource, type PluginManifest } from './manifest.ts'
import type { ModelFacts } from './model-facts.ts'
import type { PluginStore } from './store.ts'

export interface RefreshRequest {
  /** The plugins by id; without them all that have a list, but for those that are retired or lack their key. */
  readonly plugins?: readonly string[] | undefined
  /** Compares, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** Takes a list that is less than half as long as the old one. */
  readonly force?: boolean | undefined
}

/** The result for one plugin's list. Where it failed or was skipped, the old list is still whole and in use. */
export interface RefreshRow {
  readonly plugin: string
  /** How many models the list held, and holds now. */
  readonly before: number
  readonly after: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** The file that holds the list before, or null where nothing was written. */
  readonly backup: string | null
  /** Why it was left out, or null. */
  readonly skipped: string | null
  /** Why it failed, or null. */
  readonly error: string | null
  readonly code?: FailureCode
  readonly warnings: readonly string[]
}

export type ModelLists = ReturnType<typeof createModelLists>

export interface ModelListParts {
  readonly listing: Listing
  readonly host: PluginHost
  readonly store: Pick<PluginStore, 'backup'>
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** The model lists of the plugins: fetched from their providers, checked, and replaced whole or not at all. */
export function createModelLists({ listing, host, store, clock }: ModelListParts) {
  return {
    /** How many rows a refresh will give. Throws as `refresh` does before it begins. */
    plan: ({ plugins }: RefreshRequest) => listing.chosen(plugins).map((view) => view.id),
    /**
     * Fetches the lists, several at once, and puts each sane one in the old one's place; rows come as they are done.
     * Throws before anything is fetched: `not_found` for an unknown plugin, `configuration` for a named one without
     * its key, `invalid` for a named one without a `models_source`.
     */
    async *refresh(request: RefreshRequest, signal?: AbortSignal): AsyncIterable<RefreshRow> {
      const all = request.plugins === undefined
      yield* several(listing.chosen(request.plugins), (view) => {
        const reason = all ? listing.whySkipped(view) : undefined
        return reason === undefined ? refreshOne(view, request, signal) : skippedRow(view, reason)
      })
    },
    /** Goes back to the list before the last change. Throws `not_found` where there is none. */
    async restore(id: string): Promise<RefreshRow> {
      const { model_map: before } = host.get(id)
      const text = store.backup(id)
      if (text === undefined)
        throw new AppError(
          'not_found',
          `Earlier model list of ${id} not found: a refresh keeps one when it replaces it`,
        )
      const earlier = host.validate(parseJson(text, `the earlier list of ${id}`))
      const date = earlier.models_as_of
      await host.revise(id, ({ models_as_of: _date, listed: _listed, ...current }) => ({
        ...current,
        model_map: earlier.model_map,
        ...(earlier.listed !== undefined && { listed: earlier.listed }),
        ...(date !== undefined && { models_as_of: date }),
      }))
      return {
        ...unchanged(id, before),
        ...difference(before, earlier.model_map),
        backup: store.backup(id) ? backupOf(id) : null,
      }
    },
  }

  async function refreshOne(view: PluginView, request: RefreshRequest, signal?: AbortSignal): Promise<RefreshRow> {
    const { id, model_map: before } = view
    try {
      const source = view.models_source!
      const rows = await listing.rows(view, signal)
      const { names, warnings } = listOf(rows, source, before, clock())
      if (!listsChatModels(rows, source, clock()))
        throw new AppError('protocol', 'The provider lists no chat model; the old list stays in use')
      if (names.length * 2 < before.length && !request.force)
        throw new AppError(
          'protocol',
          `The list would shrink from ${before.length} to ${counted(names.length, 'model')}`,
          {
            details: ['the old one stays in use; if the new one is right, say --force'],
          },
        )
      const change = difference(before, names)
      const listed = factsIn(rows, source, names)
      const isNew =
        change.added.length > 0 || change.removed.length > 0 || !isDeepStrictEqual(listed, view.listed ?? {})
      const written = isNew && request.dryRun !== true
      if (written) await write(view, names, listed)
      return {
        ...unchanged(id, before),
        ...change,
        backup: written ? backupOf(id) : null,
        warnings: [...warnings, ...lostDefault(view, names)],
      }
    } catch (thrown) {
      const { message, details, code } = toAppError(thrown)
      return { ...unchanged(id, before), error: [message, ...details].join('; '), code }
    }
  }

  /** Only the list, its facts and its date change: the other fields of the document, a user's among them, are kept. */
  async function write({ id }: PluginView, names: readonly string[], listed: ListedFacts): Promise<void> {
    await host.revise(id, (current) => ({ ...current, model_map: names, listed, models_as_of: dayOf(clock()) }))
  }
}

/** A plugin document with its provider's listed chat models and their facts. Throws `protocol` for an empty list. */
export function withListedModels<T extends PluginManifest>(manifest: T, rows: readonly ModelRow[], now: number): T {
  const source = manifest.models_source!
  if (!listsChatModels(rows, source, now)) throw new AppError('protocol', `${manifest.name} lists no chat model`)
  const { names } = listOf(rows, source, manifest.model_map, now)
  return { ...manifest, model_map: [...names], listed: factsIn(rows, source, names), models_as_of: dayOf(now) }
}

/** Whether the rows name a chat model; names that the plugin itself adds are no evidence of the provider's list. */
function listsChatModels(rows: readonly ModelRow[], { include: _added, ...own }: ModelsSource, now: number): boolean {
  return chatModels(rows, own, now).some(isModelName)
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The chat models of the rows. Those that were known keep their place, since the first one may be the default. */
function listOf(
  rows: Parameters<typeof chatModels>[0],
  source: ModelsSource,
  before: readonly string[],
  now: number,
): { names: readonly string[]; warnings: readonly string[] } {
  const offered = chatModels(rows, source, now)
  const usable = offered.filter(isModelName)
  const known = new Set(before)
  const found = new Set(usable)
  return {
    names: [...before.filter((name) => found.has(name)), ...usable.filter((name) => !known.has(name))],
    warnings:
      usable.length < offered.length
        ? [`${counted(offered.length - usable.length, 'name')} left out because no model can be called so`]
        : [],
  }
}

type ListedFacts = Readonly<Record<string, ModelFacts>>

/** The facts that the rows state of the models in the list; models without any are left out. */
function factsIn(rows: readonly ModelRow[], source: ModelsSource, names: readonly string[]): ListedFacts {
  const wanted = new Set(names)
  const stated = rows.flatMap((row) => {
    const name = nameOf(row, source)
    const facts = factsOfRow(row)
    return name !== undefined && wanted.has(name) && Object.keys(facts).length > 0 ? [[name, facts] as const] : []
  })
  return Object.fromEntries(stated)
}

async function skippedRow({ id, model_map: before }: PluginView, reason: string): Promise<RefreshRow> {
  return { ...unchanged(id, before), skipped: reason }
}

function unchanged(plugin: string, { length }: readonly string[]): RefreshRow {
  return {
    plugin,
    before: length,
    after: length,
    added: [],
    removed: [],
    backup: null,
    skipped: null,
    error: null,
    warnings: [],
  }
}

function difference(
  before: readonly string[],
  after: readonly string[],
): Pick<RefreshRow, 'after' | 'added' | 'removed'> {
  const [old, current] = [new Set(before), new Set(after)]
  return {
    after: after.length,
    added: after.filter((name) => !old.has(name)),
    removed: before.filter((name) => !current.has(name)),
  }
}

function lostDefault({ default_model: name }: PluginManifest, names: readonly string[]): readonly string[] {
  return name === undefined || names.includes(name) ? [] : [`the default model ${name} is no longer listed`]
}

/** The name under which the store keeps the document before. */
function backupOf(id: string): string {
  return `${id}.json.backup`
}
