import { readSubject } from '../../usage/limits/documents.ts'
import type { CountedBudget } from '../../usage/limits/store.ts'
import { daysAround, daysOf, keptMs, type LedgerDays, type SpendRow } from '../shared/spend-rows.ts'
import type { Database } from './connection.ts'

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
      const { subject, period, zone, start, end } = budget
      const { first: firstDay, last: lastDay } = daysOf(budget)
      add.run({ subject, period, zone, start, end, firstDay, lastDay, spent: accounts.inLedger(budget) })
      sweep.run(subject, period, zone, start - keptMs)
      return accounts.find(budget)!
    },
    inLedger: (budget) => ledgerSum(db, budget.subject, daysOf(budget), budget.start, budget.end),
  }
  return accounts
}

/** The cost of a subject in the ledger: of days by their sums, else of single rows by their time. */
export function ledgerSum(db: Database, subject: string, days: LedgerDays, start: number, end: number): number {
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
        ? { start, end, ...daysAround(start, end), ...(column && { id }) }
        : { first: days.first, last: days.last, ...(column && { id }) },
    )!
}
