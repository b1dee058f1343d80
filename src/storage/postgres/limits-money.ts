import type { AskedBudget, CountedBudget, LimitStore, Reservation, Reserved, Spend } from '../../usage/limits/store.ts'
import { type ReservationRow, readShares, writeShares } from '../shared/settlement.ts'
import { type SpendRow, spendOf } from '../shared/spend-rows.ts'
import type { Context } from './context.ts'
import { findAccounts, lockAccounts, openAccounts, spentInLedger } from './limits-spend.ts'
import type { Transaction } from './sql.ts'

type Money = Pick<LimitStore, 'reserve' | 'extend' | 'cancel' | 'spends' | 'reset' | 'orphans'>

/** Budgets in PostgreSQL: each change locks their accounts, so that all machines share them exactly. */
export function moneyOf({ db, lease }: Pick<Context, 'db' | 'lease'>): Money {
  /** Runs work that locks accounts; where one is missing, it resolves with undefined, and is run again once all are open. */
  const withAccounts = async <R>(
    budgets: readonly CountedBudget[],
    work: (tx: Transaction) => Promise<R | undefined>,
  ) => {
    for (;;) {
      const result = await db.transaction(work)
      if (result !== undefined) return result
      await openAccounts(db, budgets)
    }
  }

  return {
    async reserve(reservation, budgets) {
      await lease.keep()
      return withAccounts(budgets, (tx) => reserve(tx, reservation, budgets, lease.mark))
    },
    extend: (id, nano, budgets) => db.transaction((tx) => extend(tx, id, nano, budgets)),
    cancel: (id) =>
      db.transaction(async (tx) => {
        const row = await lockReservation(tx, id)
        if (!row) return
        await addToShares(tx, row, -row.nano, [])
        await tx.run('DELETE FROM limit_reservation WHERE id = $1', [id])
      }),
    async spends(budgets) {
      const find = await findAccounts(db, budgets)
      return Promise.all(
        budgets.map(async (budget): Promise<Spend> => {
          const row = find(budget)
          if (row) return spendOf(row)
          return { start: budget.start, end: budget.end, spent: await spentInLedger(db, budget), reserved: 0 }
        }),
      )
    },
    async reset(budgets) {
      await withAccounts(budgets, async (tx) => {
        const find = await lockAccounts(tx, budgets)
        const rows = budgets.map(find)
        if (!areThere(rows)) return undefined
        const ids = rows.map(({ id }) => id)
        return tx.run('UPDATE limit_spend SET cleared = spent, warned = NULL WHERE id = ANY($1)', [ids])
      })
    },
    async orphans() {
      const rows = await db.rows<ReservationRow>('SELECT * FROM limit_reservation ORDER BY at, id')
      const hasEnded = await lease.ended(rows.map(({ process }) => process))
      return rows.flatMap(({ shares: _, ...reservation }) => (hasEnded(reservation.process) ? [reservation] : []))
    },
  }
}

function areThere(rows: (SpendRow | undefined)[]): rows is SpendRow[] {
  return !rows.includes(undefined)
}

/** Undefined where an account is missing. */
async function reserve(
  tx: Transaction,
  reservation: Reservation,
  budgets: readonly AskedBudget[],
  process: string,
): Promise<Reserved | undefined> {
  const { id, at, nano, user, key, plugin, model, input, output } = reservation
  const find = await lockAccounts(tx, budgets)
  const rows = budgets.map(find)
  if (!areThere(rows)) return undefined
  const full = rows.findIndex((row, place) => isFull(row, nano, budgets[place]!))
  if (full >= 0) return { refused: full, spend: spendOf(rows[full]!) }
  const warned = budgets.flatMap((budget, place) => (isDue(rows[place]!, budget) ? [place] : []))
  await Promise.all([
    tx.run('UPDATE limit_spend SET reserved = reserved + $1 WHERE id = ANY($2)', [nano, rows.map((row) => row.id)]),
    warned.length > 0 &&
      tx.run(
        `UPDATE limit_spend s SET warned = w.warned FROM unnest($1::bigint[], $2::bigint[]) AS w (id, warned)
       WHERE s.id = w.id`,
        [warned.map((place) => rows[place]!.id), warned.map((place) => budgets[place]!.limit)],
      ),
    tx.run(
      `INSERT INTO limit_reservation (id, process, at, nano, "user", key, plugin, model, input, output, shares)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [id, process, at, nano, user, key, plugin, model, input, output, writeShares(rows, budgets)],
    ),
  ])
  const spends = rows.map((row): Spend => ({ ...spendOf(row), reserved: row.reserved + nano }))
  return { refused: undefined, spends, warned }
}

function isFull({ spent, cleared, reserved }: SpendRow, nano: number, { limit }: AskedBudget): boolean {
  return spent - cleared + reserved + nano > limit
}

/** Whether the warning of a budget is due for the first time. */
function isDue({ spent, cleared, warned }: SpendRow, { limit, warn }: AskedBudget): boolean {
  return warned !== limit && limit !== 0 && (spent - cleared) * 100 >= limit * warn
}

async function extend(tx: Transaction, id: string, nano: number, budgets: readonly AskedBudget[]): Promise<boolean> {
  const row = await lockReservation(tx, id)
  if (!row) return false
  const isAdded = await addToShares(
    tx,
    row,
    nano,
    budgets.filter(({ hard }) => hard),
  )
  if (isAdded) await tx.run('UPDATE limit_reservation SET nano = nano + $1 WHERE id = $2', [nano, id])
  return isAdded
}

function lockReservation(tx: Transaction, id: string): Promise<ReservationRow | undefined> {
  return tx.row('SELECT * FROM limit_reservation WHERE id = $1 FOR UPDATE', [id])
}

/** Adds to the reserved amounts in the accounts of a reservation; false where a hard budget has not enough left. */
async function addToShares(tx: Transaction, row: ReservationRow, nano: number, hard: readonly AskedBudget[]) {
  const ids = readShares(row).map(([account]) => account)
  const find = await lockAccounts(tx, hard, ids)
  const isRefused = hard.some((budget) => {
    const account = find(budget)
    return account !== undefined && isFull(account, nano, budget)
  })
  if (!isRefused) await tx.run('UPDATE limit_spend SET reserved = reserved + $1 WHERE id = ANY($2)', [nano, ids])
  return !isRefused
}
