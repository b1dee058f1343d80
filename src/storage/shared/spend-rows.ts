import type { CountedBudget, Spend } from '../../usage/usage.ts'
import { dayNumber } from './ledger-rows.ts'

/** An account of a budget in one period. Amounts are nano-USD, times milliseconds since 1970. */
export interface SpendRow {
  readonly id: number
  readonly subject: string
  readonly start: number
  readonly end: number
  readonly first_day: number | null
  readonly last_day: number | null
  readonly spent: number
  readonly beyond: number
  readonly reserved: number
  readonly cleared: number
  readonly warned: number | null
}

/** Accounts stay so long after their period: milliseconds. Late rows of a journal still belong to them. */
export const keptMs = 40 * 86_400_000

/** The days of the ledger that are a period; null where its days are of another zone. */
export interface LedgerDays {
  readonly first: number | null
  readonly last: number | null
}

export function daysOf({ days }: Pick<CountedBudget, 'days'>): LedgerDays {
  return days ? { first: dayNumber(days.first), last: dayNumber(days.last) } : { first: null, last: null }
}

const dayMs = 86_400_000

/** The days that hold the rows of a time in any time zone of their booking: at most a day from that in UTC. */
export function daysAround(start: number, end: number): { readonly first: number; readonly last: number } {
  return { first: utcDay(start - dayMs), last: utcDay(end + dayMs) }
}

/** The day of a moment in UTC as a number such as 20261122. */
function utcDay(at: number): number {
  return dayNumber(new Date(at).toISOString().slice(0, 10))
}

/** The spend of an account in nano-USD, without the part that a reset cleared. */
export function spendOf({ start, end, spent, cleared, reserved }: SpendRow): Spend {
  return { start, end, spent: spent - cleared, reserved }
}
