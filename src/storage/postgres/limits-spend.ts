import { readSubject } from '../../usage/limits/documents.ts'
import type { CountedBudget } from '../../usage/limits/store.ts'
import { daysAround, daysOf, keptMs, type LedgerDays, type SpendRow } from '../shared/spend-rows.ts'
import type { Database, Sql, Transaction } from './sql.ts'

/** The account of a budget, as it is; undefined where nothing asked it in this period yet. */
export type FindAccount = (budget: CountedBudget) => SpendRow | undefined

type StoredSpend = SpendRow & { readonly period: string; readonly zone: string }

/**
 * The number of the lock that appends of the ledger share, and that an account is opened under alone: an append that is not
 * committed yet is neither in the ledger's sum nor knows the account.
 */
const openingLock = 4_706_883_220

/** Has accounts that are opened wait until the transaction has ended, before its first row of the ledger. */
export async function holdOpenings(tx: Transaction): Promise<void> {
  await tx.row('SELECT pg_advisory_xact_lock_shared($1)', [openingLock])
}

/** The period stays where the clock was set back over its start: the next one's account is there already. */
const accountsOf = `(subject, period, zone, start) IN (
  SELECT b.subject, b.period, b.zone, unnest(ARRAY[b.start, b.end])
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS b (subject, period, zone, start, "end"))`

function keysOf(budgets: readonly CountedBudget[]): readonly unknown[] {
  return (['subject', 'period', 'zone', 'start', 'end'] as const).map((name) => budgets.map((budget) => budget[name]))
}

function finding(rows: readonly StoredSpend[]): FindAccount {
  return ({ subject, period, zone, start, end }) => {
    const own = rows.filter((row) => row.subject === subject && row.period === period && row.zone === zone)
    return own.find((row) => row.start === end) ?? own.find((row) => row.start === start)
  }
}

/** Reads the accounts of budgets. */
export async function findAccounts(sql: Sql, budgets: readonly CountedBudget[]): Promise<FindAccount> {
  return finding(await sql.rows<StoredSpend>(`SELECT * FROM limit_spend WHERE ${accountsOf}`, keysOf(budgets)))
}

/** Reads the accounts of budgets, and others by their ids, and locks them until the end of the transaction. */
export async function lockAccounts(
  tx: Transaction,
  budgets: readonly CountedBudget[],
  ids: readonly number[] = [],
): Promise<FindAccount> {
  return finding(
    await tx.rows<StoredSpend>(`SELECT * FROM limit_spend WHERE ${accountsOf} OR id = ANY($6) ORDER BY id FOR UPDATE`, [
      ...keysOf(budgets),
      ids,
    ]),
  )
}

/** Opens the accounts that are missing, each from the ledger's sum for its period. */
export function openAccounts(db: Database, budgets: readonly CountedBudget[]): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.row('SELECT pg_advisory_xact_lock($1)', [openingLock])
    for (const budget of budgets) {
      if ((await findAccounts(tx, [budget]))(budget)) continue
      const { subject, period, zone, start, end } = budget
      const { first, last } = daysOf(budget)
      const spent = await spentInLedger(tx, budget)
      await Promise.all([
        tx.run(
          `INSERT INTO limit_spend (subject, period, zone, start, "end", first_day, last_day, spent)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [subject, period, zone, start, end, first, last, spent],
        ),
        tx.run('DELETE FROM limit_spend WHERE subject = $1 AND period = $2 AND zone = $3 AND "end" < $4', [
          subject,
          period,
          zone,
          start - keptMs,
        ]),
      ])
    }
  })
}

/** The ledger's sum for the period of a budget: nano-USD. */
export function spentInLedger(sql: Sql, budget: CountedBudget): Promise<number> {
  return ledgerSum(sql, budget.subject, daysOf(budget), budget.start, budget.end)
}

/** The cost of a subject in the ledger: of days by their sums, else of single rows by their time. */
export async function ledgerSum(
  sql: Sql,
  subject: string,
  days: LedgerDays,
  start: number,
  end: number,
): Promise<number> {
  const { kind, id } = readSubject(subject)!
  const column = { key: 'api_key', user: '"user"', plugin: 'plugin', all: undefined }[kind]
  const isIts = column === undefined ? '$3::text IS NULL' : `${column} = (SELECT id FROM ledger_name WHERE name = $3)`
  const name = column === undefined ? null : id
  const sum =
    days.first === null
      ? await sql.row<{ cost: number }>(
          `SELECT coalesce(sum(cost), 0) AS cost FROM ledger
           WHERE day BETWEEN $1 AND $2 AND at >= $4 AND at < $5 AND ${isIts}`,
          [daysAround(start, end).first, daysAround(start, end).last, name, start, end],
        )
      : await sql.row<{ cost: number }>(
          `SELECT coalesce(sum(cost), 0) AS cost FROM ledger_day WHERE day BETWEEN $1 AND $2 AND ${isIts}`,
          [days.first, days.last, name],
        )
  return sum!.cost
}
