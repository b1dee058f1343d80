import { type MaybePromise, whenThere } from '../../accounts/accounts.ts'
import { AppError } from '../../errors.ts'
import { isPattern, patternOf } from '../../plugins/plugins.ts'
import { heavyTurn } from '../../process/process.ts'
import type { Amounts, Place, PriceList } from '../cost.ts'
import type { Price, PriceSource } from './price.ts'
import { priceOf, rowOf } from './price-file.ts'
import { createPriceList, type FixedPriceList, shippedId } from './price-list.ts'
import type { PriceRow, PriceView } from './price-schema.ts'
import type { NewPrice, PriceKey, PriceStore, StoredPrice } from './store.ts'

export interface ShippedPrices {
  /** All of them. */
  readonly prices: readonly Price[]
  /** Those of a plugin. */
  of(plugin: string): readonly Price[]
  readonly source: string
  /** A day: `2026-01-31`. */
  readonly fetchedAt: string
}

export interface PriceQuery {
  readonly plugin?: string | undefined
  /** A name, or a pattern of names. */
  readonly model?: string | undefined
  readonly source?: PriceSource | undefined
  readonly limit: number
  readonly offset: number
}

/** All prices of this installation. As a list it reports changes of other processes within a second. */
export type Prices = Awaited<ReturnType<typeof createPrices>>

export interface PricesParts {
  readonly store: PriceStore
  /** Another value after every change of stored prices, by any process; undefined while that is not known. */
  readonly mark: () => string | undefined
  /** Calls back when a change by another process is known, where requests cannot wait for the storage to tell it. */
  readonly onChange?: (listener: () => void) => void
  /** Read at the first use. */
  readonly shipped: () => ShippedPrices
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
  /** Called where changed prices cannot be read; the ones before stay in use. */
  readonly warn: (message: string) => void
}

/** How long a change of another process may go unseen: milliseconds. */
const lookEvery = 1000

/** Prices without a store, for a command on an installation that keeps nothing yet. */
export function shippedPriceList(shipped: () => ShippedPrices): PriceList {
  return createPriceList({ shipped: (plugin) => shipped().of(plugin) })
}

/** Opens the prices of this installation. */
export async function createPrices(parts: PricesParts) {
  const { store, clock, now } = parts
  let stored: readonly StoredPrice[] = []
  /** Made at its first use: a command that asks no model needs none. */
  let list: FixedPriceList | undefined
  let mark: string | undefined
  let loads = 0
  let newest = 0
  let looked = now()
  let looking = false
  parts.onChange?.(() => void Promise.resolve(load()).catch(failed))
  await load()

  const current = () => {
    if (now() - looked >= lookEvery) look()
    list ??= createPriceList({
      operator: stored.filter(({ source }) => source === 'operator'),
      refreshed: stored.filter(({ source }) => source === 'refreshed'),
      shipped: (plugin) => parts.shipped().of(plugin),
    })
    return list
  }
  return {
    costOf: (place: Place, amounts: Amounts, at: number) => current().costOf(place, amounts, at),
    mostFor: (place: Place, input: number, output: number, at: number) => current().mostFor(place, input, output, at),
    /** The price of a model that counts now. */
    priceFor: (plugin: string, model: string) => current().priceFor({ plugin, model }, clock()),
    /** By plugin and model, the one that counts first. `total` counts those beyond the limit too. */
    async list(query: PriceQuery): Promise<{ readonly prices: readonly PriceView[]; readonly total: number }> {
      if (hasChanged()) await load()
      return shown(stored, parts.shipped(), query)
    },
    /** Sets prices of the operator's, all or none. */
    async set(rows: readonly PriceRow[], by: string): Promise<readonly PriceView[]> {
      const set = rows.map((row): NewPrice => ({ source: 'operator', origin: by, price: priceOf(row) }))
      // Each of these takes long for a thousand rows.
      await heavyTurn()
      const { ids } = await store.write({ set, end: [] }, clock())
      await heavyTurn()
      await load()
      await heavyTurn()
      const byId = new Map(stored.map((price) => [price.id, price]))
      return ids.flatMap((id) => byId.get(id) ?? []).map(storedView)
    },
    /** Ends a price of the operator's. Throws `not_found` where there is none. */
    async unset({
      plugin,
      model,
      validFrom,
    }: {
      readonly plugin: string
      readonly model: string
      readonly validFrom?: number
    }) {
      const key: PriceKey = { source: 'operator', plugin, model, ...(validFrom !== undefined && { validFrom }) }
      const { ended } = await store.write({ set: [], end: [key] }, clock())
      if (ended === 0)
        throw new AppError('not_found', `No price of ${model} at ${plugin} was set here`, {
          details: ['Those that were: aichat prices list --source operator'],
        })
      await load()
    },
  }

  /** Looks whether stored prices have changed; if so they are read, while the ones before are in use where that takes time. */
  function look(): void {
    looked = now()
    if (looking || !hasChanged()) return
    try {
      const loading = load()
      if (!(loading instanceof Promise)) return
      looking = true
      loading.catch(failed).finally(() => {
        looking = false
      })
    } catch (reason) {
      failed(reason)
    }
  }

  function failed(reason: unknown): void {
    parts.warn(`Changed prices could not be read, so that the old ones stay: ${reason}`)
  }

  function hasChanged(): boolean {
    const seen = parts.mark()
    return seen === undefined || seen !== mark
  }

  function load(): MaybePromise<void> {
    const turn = ++loads
    // The mark before the rows: a change in between is seen by the next look.
    const seen = parts.mark()
    return whenThere(store.list(), (rows) => take(rows, turn, seen))
  }

  function take(rows: readonly StoredPrice[], turn: number, seen: string | undefined): void {
    if (turn < newest) return
    newest = turn
    mark = seen
    stored = rows
    list = undefined
  }
}

function shown(
  stored: readonly StoredPrice[],
  { prices, source: origin, fetchedAt }: ShippedPrices,
  { plugin, model, source, limit, offset }: PriceQuery,
): { readonly prices: readonly PriceView[]; readonly total: number } {
  const isNamed = model === undefined ? () => true : namedBy(model)
  const rows = [
    ...stored.map((price) => ({ price, source: price.source as PriceSource, view: () => storedView(price) })),
    ...prices.map((price) => ({
      price,
      source: 'shipped' as const,
      view: () => ({
        ...rowOf(price),
        id: shippedId(price),
        source: 'shipped' as const,
        origin,
        fetched_at: fetchedAt,
      }),
    })),
  ].filter(
    (row) =>
      (plugin === undefined || row.price.plugin === plugin) &&
      (source === undefined || row.source === source) &&
      isNamed(row.price),
  )
  rows.sort(
    (a, b) =>
      byText(a.price.plugin, b.price.plugin) ||
      byText(a.price.model, b.price.model) ||
      ranks[a.source] - ranks[b.source] ||
      (a.price.validFrom ?? 0) - (b.price.validFrom ?? 0),
  )
  return { prices: rows.slice(offset, offset + limit).map(({ view }) => view()), total: rows.length }
}

const ranks: Readonly<Record<PriceSource, number>> = { operator: 0, refreshed: 1, shipped: 2 }

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether a price has a name that a text names, as a name or as a pattern. */
function namedBy(text: string): (price: Price) => boolean {
  const wanted = text.toLowerCase()
  const pattern = patternOf(wanted)
  const isNamed = (each: string) => {
    const name = each.toLowerCase()
    return pattern.matches(name) || (isPattern(name) && patternOf(name).matches(wanted))
  }
  return ({ model, also = [], except = [] }) =>
    [model, ...also].some(isNamed) && !except.some((each) => patternOf(each).matches(wanted))
}

function storedView(price: StoredPrice): PriceView {
  const { id, source, origin, setAt } = price
  return { ...rowOf(price), id, source, origin, fetched_at: new Date(setAt).toISOString() }
}
