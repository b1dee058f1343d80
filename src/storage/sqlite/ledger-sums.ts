import type { LedgerRow } from '../../usage/ledger/ledger.ts'
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
  for (const row of rows) {
    const place = [
      dayNumber(row.day),
      idOf(row.user),
      row.key === null ? 0 : idOf(row.key),
      row.plugin === null ? 0 : idOf(row.plugin),
      idOf(row.model),
    ]
    const name = place.join()
    let group = groups.get(name)
    if (!group) {
      group = { place, sums: columnsOfSums.map(() => 0) }
      groups.set(name, group)
    }
    const { amounts, cost } = row
    const counts = [
      1,
      row.outcome === 'failed' ? 1 : 0,
      amounts.input,
      amounts.cached ?? 0,
      (amounts.cacheWrite ?? 0) + (amounts.cacheWriteLong ?? 0),
      amounts.output,
      amounts.reasoning ?? 0,
      amounts.characters ?? 0,
      cost.nano ?? 0,
      cost.nano === null ? 1 : 0,
      row.estimated ? 1 : 0,
    ]
    for (const [at, count] of counts.entries()) group.sums[at]! += count
  }
  return groups.values()
}
