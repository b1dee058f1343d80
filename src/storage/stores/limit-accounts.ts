import { type CountedBudget, readSubject } from '../../usage/usage.ts'
import { among, forUpdate, lock, row, rows, run, type Statement, sql, together, type Work } from '../port/port.ts'
import { daysAround, daysOf, keptMs, type LedgerDays, type SpendRow } from '../shared/spend-rows.ts'
import { idOfName } from './ledger-names.ts'

/** The account of a budget, as it is; undefined where nothing asked it in this period yet. */
export type FindAccount = (budget: CountedBudget) => SpendRow | undefined

type StoredSpend = SpendRow & { readonly period: string; readonly zone: string }

/**
 * The number of the lock that appends of the ledger share, and that an account is opened under alone: an append that is not
 * committed yet is neither in the ledger's sum nor knows the account.
 */
const openingLock = 4_706_883_220

/** Has accounts that are opened wait until the transaction has ended, before its first row of the ledger. */
export function holdOpenings(): Work<void> {
  return lock(sql`SELECT pg_advisory_xact_lock_shared(${openingLock})`)
}

/**
 * The condition of the accounts of budgets, of which a request asks few. The period stays where the clock was set back over its
 * start: the next one's account is there already.
 */
function isOf(budgets: readonly CountedBudget[]): Statement {
  return budgets.map(isAccountOf).reduce((all, one) => sql`${all} OR ${one}`, sql`false`)
}

function isAccountOf({ subject, period, zone, start, end }: CountedBudget): Statement {
  return sql`(subject = ${subject} AND period = ${period} AND zone = ${zone} AND start IN (${start}, ${end}))`
}

function finding(found: readonly StoredSpend[]): FindAccount {
  return ({ subject, period, zone, start, end }) => {
    const own = found.filter((each) => each.subject === subject && each.period === period && each.zone === zone)
    return own.find((each) => each.start === end) ?? own.find((each) => each.start === start)
  }
}

/** Reads the accounts of budgets. */
export function* findAccounts(budgets: readonly CountedBudget[]): Work<FindAccount> {
  return finding(yield* rows<StoredSpend>(sql`SELECT * FROM limit_spend WHERE ${isOf(budgets)}`))
}

/** Reads the accounts of budgets, and others by their ids, and locks them until the end of the transaction. */
export function* lockAccounts(budgets: readonly CountedBudget[], ids: readonly number[] = []): Work<FindAccount> {
  const isWanted = ids.length === 0 ? isOf(budgets) : sql`${isOf(budgets)} OR id ${among(ids)}`
  return finding(yield* rows<StoredSpend>(sql`SELECT * FROM limit_spend WHERE ${isWanted} ORDER BY id ${forUpdate}`))
}

/** Opens the accounts that are missing, each from the ledger's sum for its period. */
export function* openAccounts(budgets: readonly CountedBudget[]): Work<void> {
  yield* lock(sql`SELECT pg_advisory_xact_lock(${openingLock})`)
  for (const budget of budgets) {
    if ((yield* findAccounts([budget]))(budget)) continue
    const { subject, period, zone, start, end } = budget
    const { first, last } = daysOf(budget)
    const spent = yield* spentInLedger(budget)
    yield* together(
      run(
        sql`INSERT INTO limit_spend (subject, period, zone, start, "end", first_day, last_day, spent)
            VALUES (${subject}, ${period}, ${zone}, ${start}, ${end}, ${first}, ${last}, ${spent})`,
      ),
      run(
        sql`DELETE FROM limit_spend WHERE subject = ${subject} AND period = ${period} AND zone = ${zone}
              AND "end" < ${start - keptMs}`,
      ),
    )
  }
}

/** The ledger's sum for the period of a budget: nano-USD. */
export function spentInLedger(budget: CountedBudget): Work<number> {
  return ledgerSum(budget.subject, daysOf(budget), budget.start, budget.end)
}

/** The cost of a subject in the ledger: of days by their sums, else of single rows by their time. */
export function* ledgerSum(subject: string, days: LedgerDays, start: number, end: number): Work<number> {
  const { kind, id } = readSubject(subject)!
  const isIts = {
    key: () => sql`api_key = ${idOfName(id)}`,
    user: () => sql`"user" = ${idOfName(id)}`,
    plugin: () => sql`plugin = ${idOfName(id)}`,
    all: () => sql`true`,
  }[kind]()
  const around = daysAround(start, end)
  const sum = yield* row<{ cost: number }>(
    days.first === null
      ? sql`SELECT coalesce(sum(cost), 0) AS cost FROM ledger
            WHERE day BETWEEN ${around.first} AND ${around.last} AND at >= ${start} AND at < ${end} AND ${isIts}`
      : sql`SELECT coalesce(sum(cost), 0) AS cost FROM ledger_day
            WHERE day BETWEEN ${days.first} AND ${days.last} AND ${isIts}`,
  )
  return sum!.cost
}
