import { readSubject } from '../../usage/limits/documents.ts'
import type { CountedBudget, Spend } from '../../usage/limits/store.ts'
import type { Database } from './connection.ts'
import { dayNumber } from './ledger-rows.ts'

/** An account of a budget in one period. */
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
const keptMs = 40 * 86_400_000

export interface SpendAccounts {
  /** The account of a budget, as it is; undefined where nothing asked it in this period yet. */
  find(budget: CountedBudget): SpendRow | undefined
  /** The account, made from the ledger's sum for the period when there is none; within the caller's transaction. */
  open(budget: CountedBudget): SpendRow
  /** The ledger's sum for the period of a budget: nano-USD. */
  inLedger(budget: CountedBudget): number
}

/** Prepares the accounts of budgets, one for each period of a budget. */
export function spendAccounts(db: Database): SpendAccounts {
  // The period stays where the clock was set back over its start: the next one's account is there already.
  const find = db.prepare<[string, string, string, number, number], SpendRow>(
    `SELECT * FROM limit_spend WHERE subject = ? AND period = ? AND zone = ? AND start IN (?, ?)
      ORDER BY start DESC LIMIT 1`,
  )
  const add = db.prepare(
    `INSERT INTO limit_spend (subject, period, zone, start, "end", first_day, last_day, spent)
     VALUES (:subject, :period, :zone, :start, :end, :firstDay, :lastDay, :spent)`,
  )
  const sweep = db.prepare<[string, string, string, number]>(
    'DELETE FROM limit_spend WHERE subject = ? AND period = ? AND zone = ? AND "end" < ?',
  )
  const accounts: SpendAccounts = {
    find: ({ subject, period, zone, start, end }) => find.get(subject, period, zone, start, end),
    open(budget) {
      const known = accounts.find(budget)
      if (known) return known
      const { subject, period, zone, start, end, days } = budget
      const [firstDay, lastDay] = days ? [dayNumber(days.first), dayNumber(days.last)] : [null, null]
      add.run({ subject, period, zone, start, end, firstDay, lastDay, spent: accounts.inLedger(budget) })
      sweep.run(subject, period, zone, start - keptMs)
      return accounts.find(budget)!
    },
    inLedger: ({ subject, start, end, days }) =>
      ledgerSum(
        db,
        subject,
        days ? { first: dayNumber(days.first), last: dayNumber(days.last) } : { first: null, last: null },
        start,
        end,
      ),
  }
  return accounts
}

/** The cost of a subject in the ledger: of days by their sums, else of single rows by their time. */
export function ledgerSum(
  db: Database,
  subject: string,
  days: { readonly first: number | null; readonly last: number | null },
  start: number,
  end: number,
): number {
  const { kind, id } = readSubject(subject)!
  const column = { key: 'api_key', user: 'user', plugin: 'plugin', all: undefined }[kind]
  const isIts = column === undefined ? '' : `AND ${column} = (SELECT id FROM ledger_name WHERE name = :id)`
  // Finds rows by their day, which is at most a day from that in UTC, in any time zone of their booking.
  const [table, range] =
    days.first === null
      ? ['ledger', 'day BETWEEN :first AND :last AND at >= :start AND at < :end']
      : ['ledger_day', 'day BETWEEN :first AND :last']
  return db
    .prepare<[Record<string, unknown>], number>(`SELECT ifnull(sum(cost), 0) FROM ${table} WHERE ${range} ${isIts}`)
    .pluck()
    .get(
      days.first === null
        ? { start, end, first: utcDay(start - dayMs), last: utcDay(end + dayMs), ...(column && { id }) }
        : { first: days.first, last: days.last, ...(column && { id }) },
    )!
}

const dayMs = 86_400_000

/** The day of a moment in UTC as a number such as 20261122. */
function utcDay(at: number): number {
  return dayNumber(new Date(at).toISOString().slice(0, 10))
}

/** The spend of an account in nano-USD, without the part that a reset cleared. */
export function spendOf({ start, end, spent, cleared, reserved }: SpendRow): Spend {
  return { start, end, spent: spent - cleared, reserved }
}
