import type { PriceChange } from '../../usage/prices/store.ts'
import { type KeyColumns, keyOf, termsOf } from './price-rows.ts'

/** A price that holds, as far as a change needs it: its number, and its terms as text. */
export interface Holding {
  readonly key: KeyColumns
  readonly number: number
  readonly terms: string
}

/** A price to be added; one that another of the same change supersedes has ended already. */
export interface AddedPrice {
  readonly key: KeyColumns
  readonly terms: string
  readonly origin: string
  isEnded: boolean
}

/** The rows that a change writes. */
export interface PriceRows {
  /** The numbers of rows that end. */
  readonly ended: readonly number[]
  /** In the order of their numbers. */
  readonly added: readonly AddedPrice[]
  /** For each price that is set, the row that is there already, or the place of the added one. */
  readonly set: readonly ({ readonly number: number } | { readonly added: number })[]
  /** How many prices end, of those added too. */
  readonly endings: number
}

/** Follows a change, price by price, from the prices that hold before it. */
export function rowsOfChange(change: PriceChange, holding: readonly Holding[]): PriceRows {
  const held = new Map<string, Holding | number>(holding.map((row) => [nameOf(row.key), row]))
  const ended: number[] = []
  const added: AddedPrice[] = []
  const set: ({ number: number } | { added: number })[] = []
  let endings = 0
  const end = (name: string) => {
    const before = held.get(name)
    if (before === undefined) return
    if (typeof before === 'number') added[before]!.isEnded = true
    else ended.push(before.number)
    held.delete(name)
    endings++
  }
  for (const key of change.end) end(nameOf(keyOf(key)))
  for (const { source, origin, price } of change.set) {
    const key = keyOf({ source, ...price })
    const terms = termsOf(price)
    const name = nameOf(key)
    const before = held.get(name)
    const row = typeof before === 'number' ? added[before] : before
    if (before !== undefined && row?.terms === terms) {
      set.push(typeof before === 'number' ? { added: before } : { number: before.number })
      continue
    }
    end(name)
    set.push({ added: added.length })
    held.set(name, added.length)
    added.push({ key, terms, origin, isEnded: false })
  }
  return { ended, added, set, endings }
}

function nameOf(key: KeyColumns): string {
  return JSON.stringify(key)
}
