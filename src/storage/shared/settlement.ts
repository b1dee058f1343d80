import { type AskedBudget, type LedgerRow, type Orphan, subjectOf } from '../../usage/usage.ts'
import type { SpendRow } from './spend-rows.ts'

/** A reservation with the accounts that it is held in. */
export interface ReservationRow extends Orphan {
  /** JSON: [id of the account, 1 for a hard budget, else 0] each. */
  readonly shares: string
}

type Shares = readonly (readonly [account: number, hard: 0 | 1])[]

/** The accounts of a reservation. */
export function readShares({ shares }: Pick<ReservationRow, 'shares'>): Shares {
  return JSON.parse(shares) as Shares
}

/** The accounts that a reservation counts in, as JSON: id, and 1 for a hard budget. */
export function writeShares(accounts: readonly Pick<SpendRow, 'id'>[], budgets: readonly AskedBudget[]): string {
  return JSON.stringify(accounts.map(({ id }, at) => [id, budgets[at]!.hard ? 1 : 0]))
}

/** The subjects with budgets that a row counts in. */
export function subjectsOf({ key, user, plugin }: LedgerRow): readonly string[] {
  const subjects = ['all', subjectOf('user', user)]
  if (key !== null) subjects.push(subjectOf('key', key))
  if (plugin !== null) subjects.push(subjectOf('plugin', plugin))
  return subjects
}

/** The amount that the end of a reservation adds beyond the row that settles it; `start` is the account's. */
export function beyondRow(row: LedgerRow, reserved: number, isHard: boolean, start: number): number {
  const { nano: priced } = row.cost
  const cost = priced ?? 0
  // The clock was set back since: the row lies before the period that it is paid from.
  const missing = row.at < start ? cost : 0
  // An answer without a known price, as of a service tier that its caller chose, was not free.
  const kept = priced === null || (row.lowerBound && isHard) ? Math.max(0, reserved - cost) : 0
  return missing + kept
}

/** The differences between accounts and the ledger, one line each. */
export function spendProblems(
  rows: readonly (SpendRow & { readonly period: string; readonly booked: number })[],
  reservations: readonly Pick<ReservationRow, 'nano' | 'shares'>[],
): readonly string[] {
  const problems = rows.flatMap(({ subject, period, start, spent, beyond, booked }) => {
    const where = `budget of ${subject}, ${period} from ${new Date(start).toISOString().slice(0, 10)}`
    return booked === spent - beyond ? [] : [`${where}: ${spent - beyond} is counted, and ${booked} is in the ledger`]
  })
  const reserved = new Map<number, number>()
  for (const reservation of reservations)
    for (const [id] of readShares(reservation)) reserved.set(id, (reserved.get(id) ?? 0) + reservation.nano)
  for (const { id, subject, period, reserved: counted } of rows)
    if (counted !== (reserved.get(id) ?? 0))
      problems.push(`budget of ${subject}, ${period}: ${counted} is reserved, and ${reserved.get(id) ?? 0} by requests`)
  return problems
}
