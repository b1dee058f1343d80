import { createHash } from 'node:crypto'
import { isPattern, longestName, type Pattern, patternOf, withDashedDates } from '../../plugins/plugins.ts'
import type { Amounts, Cost, Place, PriceList } from '../cost.ts'
import type { KnownPrice, Price, PriceSource, Rates, Tariff } from './price.ts'
import { costOf, type FlatPrice, flatPrice, mostFor } from './tariffs.ts'

/** The prices of each source; the ids of shipped ones are made from their fields. */
export interface PriceLayers {
  readonly operator?: readonly KnownPrice[]
  readonly refreshed?: readonly KnownPrice[]
  /** Those of a plugin: they are asked for at the first look-up there, since a command asks for one of twenty plugins. */
  readonly shipped?: (plugin: string) => readonly Price[]
}

/** Prices that do not change; see `createPriceList`. */
export interface FixedPriceList extends PriceList {
  /** The price that holds for a model at that time, or undefined. */
  priceFor(place: Place, at: number): KnownPrice | undefined
}

/** The most places with their price kept at hand. A caller may name any model: the oldest go. */
const mostPlaces = 4096

/**
 * Prices of these layers, the operator's before refreshed before shipped ones. Within a layer a name goes before a pattern,
 * a longer pattern before a shorter one, and of two of the same model the one that began last. A cost that the provider
 * reports goes before all; a model of this machine and speech cost nothing. A call takes about a microsecond, the first one
 * for a place some more.
 */
export function createPriceList(layers: PriceLayers): FixedPriceList {
  const { operator = [], refreshed = [], shipped = () => [] } = layers
  const indexes: readonly Index[] = [indexOf(among(operator)), indexOf(among(refreshed)), indexOf(shipped)]
  const known = new Map<string, Map<string, Found>>()
  let places = 0

  return {
    costOf(place, amounts, at) {
      const reported = amounts.reportedNano
      if (reported !== undefined && Number.isSafeInteger(reported) && reported >= 0) return costs(reported, 'reported')
      if (isFree(place, amounts)) return free
      const { price } = found(place, at)
      const nano = price ? costOf(price.flat(), amounts) : null
      return nano === null ? unknown : { nano, source: price!.source, priceId: price!.id() }
    },
    mostFor(place, input, output, at) {
      if (place.plugin === null) return 0
      const { price } = found(place, at)
      return price ? mostFor(price.flat(), input, output) : null
    },
    priceFor: (place, at) => (place.plugin === null ? undefined : found(place, at).price?.known()),
  }

  function found({ plugin, model }: Place, at: number): Found {
    const kept = known.get(plugin!)?.get(model)
    if (kept && at >= kept.from && at < kept.until) return kept
    const looked = lookUp(indexes, plugin!, model, at)
    if (model.length > longestName) return looked
    if (places >= mostPlaces) {
      known.clear()
      places = 0
    }
    const models = known.get(plugin!) ?? new Map<string, Found>()
    known.set(plugin!, models)
    if (!models.has(model)) places++
    models.set(model, looked)
    return looked
  }
}

const free: Cost = { nano: 0, source: 'local', priceId: null }
const unknown: Cost = { nano: null, source: null, priceId: null }

function costs(nano: number, source: 'reported'): Cost {
  return { nano, source, priceId: null }
}

function isFree({ plugin }: Place, { characters }: Amounts): boolean {
  return plugin === null || characters !== undefined
}

/** The price of a place, and for how long it stays this one: milliseconds since 1970 UTC, `until` excluded. */
type Found = ReturnType<typeof lookUp>

/** A price in an index; its other forms are made at their first use. */
interface Entry {
  readonly price: Price
  readonly source: PriceSource
  flat(): FlatPrice
  id(): string
  known(): KnownPrice
}

/** A pattern of a price. */
interface Rule {
  readonly pattern: Pattern
  readonly entry: Entry
}

type Names = ReturnType<typeof namesOf>

/** The prices of one source for a plugin; undefined where it has none. */
type Index = (plugin: string) => Names | undefined

function among(prices: readonly KnownPrice[]) {
  return (plugin: string) => prices.filter((price) => price.plugin === plugin)
}

/** An index that is made plugin by plugin, at the first look-up for each. */
function indexOf(pricesOf: (plugin: string) => readonly (Price | KnownPrice)[]): Index {
  const known = new Map<string, Names | undefined>()
  return (plugin) => {
    if (!known.has(plugin)) {
      const prices = pricesOf(plugin)
      known.set(plugin, prices.length > 0 ? namesOf(prices) : undefined)
    }
    return known.get(plugin)
  }
}

function namesOf(prices: readonly (Price | KnownPrice)[]) {
  const exact = new Map<string, Entry[]>()
  const rules: Rule[] = []
  for (const price of prices) {
    const entry = entryOf(price)
    for (const text of [price.model, ...(price.also ?? [])]) {
      if (isPattern(text)) rules.push({ pattern: patternOf(text), entry })
      else {
        const name = text.toLowerCase()
        const same = exact.get(name)
        if (same) same.push(entry)
        else exact.set(name, [entry])
      }
    }
  }
  rules.sort((a, b) => b.pattern.weight - a.pattern.weight)
  return { exact, rules }
}

function entryOf(price: Price | KnownPrice): Entry {
  let flat: FlatPrice | undefined
  let id = 'id' in price ? price.id : undefined
  const source = 'source' in price ? price.source : 'shipped'
  const entry: Entry = {
    price,
    source,
    flat: () => (flat ??= flatPrice(price)),
    id: () => (id ??= shippedId(price)),
    known: () => ({ ...price, id: entry.id(), source }),
  }
  return entry
}

/** The id of a shipped price: the same in every release that says the same. */
export function shippedId({ plugin, model, rates, long, services, validFrom }: Price): string {
  const tariff = ({ rates, long }: Tariff) => [rated(rates), long ? [long.above, rated(long.rates)] : 0]
  const rated = (each: Rates) => Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))
  const others = [...(services ?? [])].map(([name, each]) => [name, tariff(each)])
  const said = JSON.stringify([plugin, model, tariff({ rates, ...(long && { long }) }), others, validFrom ?? 0])
  return `s${createHash('sha256').update(said).digest('hex').slice(0, 12)}`
}

/** The price of the best source that has one at that time. */
function lookUp(indexes: readonly Index[], plugin: string, model: string, at: number) {
  let from = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  const name = model.toLowerCase()
  const names = model.length > longestName ? [] : [name, withDashedDates(name)].filter((each) => each !== undefined)
  for (const index of indexes) {
    const known = index(plugin)
    if (!known) continue
    for (const each of names) {
      // A later price for the name may begin while one for a pattern holds.
      const price = latest(known.exact.get(each) ?? []) ?? byPattern(known.rules, each)
      if (price) return { price, from, until }
    }
  }
  return { price: undefined, from, until }

  function byPattern(rules: readonly Rule[], name: string): Entry | undefined {
    const matching = rules.filter(({ pattern, entry }) => pattern.matches(name) && !isExcepted(entry.price, name))
    const best = new Map<string, Entry[]>()
    for (const { entry } of matching) best.set(entry.price.model, [...(best.get(entry.price.model) ?? []), entry])
    for (const same of best.values()) {
      const price = latest(same)
      if (price) return price
    }
    return undefined
  }

  /** The one that began last; moves the bounds to the nearest beginnings on both sides. */
  function latest(entries: readonly Entry[]): Entry | undefined {
    let best: Entry | undefined
    let began = Number.NEGATIVE_INFINITY
    for (const entry of entries) {
      const begin = entry.price.validFrom ?? Number.NEGATIVE_INFINITY
      if (begin > at) until = Math.min(until, begin)
      else {
        from = Math.max(from, begin)
        if (!best || begin > began) [best, began] = [entry, begin]
      }
    }
    return best
  }
}

function isExcepted({ except = [] }: Price, name: string): boolean {
  return except.some((text) => patternOf(text).matches(name))
}
