import type { LedgerRow } from '../../usage/usage.ts'
import { dayNumber } from './ledger-rows.ts'

/** The columns that are summed up, in the order of the table. */
export const columnsOfSums = [
  'requests',
  'failed',
  'input',
  'cached',
  'cache_write',
  'output',
  'reasoning',
  'characters',
  'cost',
  'unpriced',
  'estimated',
] as const

export type Sums = Readonly<Record<(typeof columnsOfSums)[number], number>>

/** The sums of one day, user, key, plugin and model, in the order of the table's columns. */
interface DaySums {
  readonly place: readonly number[]
  readonly sums: readonly number[]
}

/** The sums of a batch: one write for many rows, since most are of few users and models. */
export function sumsByDay(rows: readonly LedgerRow[], idOf: (name: string) => number): Iterable<DaySums> {
  const groups = new Map<string, { readonly place: readonly number[]; readonly sums: number[] }>()
  let before: LedgerRow | undefined
  let sums: number[] = []
  for (const row of rows) {
    // Most rows follow one of their own group.
    if (!before || !isSamePlace(row, before)) {
      const place = placeOf(row, idOf)
      const name = place.join()
      const group = groups.get(name) ?? { place, sums: columnsOfSums.map(() => 0) }
      groups.set(name, group)
      sums = group.sums
      before = row
    }
    addTo(sums, row)
  }
  return groups.values()
}

function isSamePlace(a: LedgerRow, b: LedgerRow): boolean {
  return a.day === b.day && a.user === b.user && a.key === b.key && a.plugin === b.plugin && a.model === b.model
}

function placeOf(row: LedgerRow, idOf: (name: string) => number): readonly number[] {
  const key = row.key === null ? 0 : idOf(row.key)
  const plugin = row.plugin === null ? 0 : idOf(row.plugin)
  return [dayNumber(row.day), idOf(row.user), key, plugin, idOf(row.model)]
}

/** Adds a row to sums in the order of their columns. */
function addTo(sums: number[], { outcome, amounts, cost, estimated }: LedgerRow): void {
  sums[0]! += 1
  sums[1]! += outcome === 'failed' ? 1 : 0
  sums[2]! += amounts.input
  sums[3]! += amounts.cached ?? 0
  sums[4]! += (amounts.cacheWrite ?? 0) + (amounts.cacheWriteLong ?? 0)
  sums[5]! += amounts.output
  sums[6]! += amounts.reasoning ?? 0
  sums[7]! += amounts.characters ?? 0
  sums[8]! += cost.nano ?? 0
  sums[9]! += cost.nano === null ? 1 : 0
  sums[10]! += estimated ? 1 : 0
}
