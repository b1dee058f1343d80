import type { MaybePromise } from '../../accounts/accounts.ts'
import type { AskedBudget, CountedBudget, LimitStore, Reservation, Reserved, Spend } from '../../usage/usage.ts'
import {
  among,
  forUpdate,
  row,
  rows,
  run,
  type StoreDatabase,
  sql,
  tableOf,
  together,
  type Work,
} from '../port/port.ts'
import { type ReservationRow, readShares, writeShares } from '../shared/settlement.ts'
import { type SpendRow, spendOf } from '../shared/spend-rows.ts'
import { findAccounts, lockAccounts, openAccounts, spentInLedger } from './limit-accounts.ts'

type Money = Pick<LimitStore, 'reserve' | 'extend' | 'cancel' | 'spends' | 'reset' | 'orphans'>

/** The processes that work on the same database. */
export interface Processes {
  /** The mark of this one. */
  readonly mark: string
  /** Has others see that this one continues. */
  keep(): MaybePromise<void>
  /** Tells which of these marks are those of processes that have ended. */
  ended(marks: readonly string[]): Promise<(mark: string) => boolean>
}

/** Budgets: each change locks their accounts, so that all processes share them exactly. */
export function moneyOf(db: StoreDatabase, processes: Processes): Money {
  /** Runs work that locks accounts; where one is missing its result is undefined, and it is run again once all are open. */
  function withAccounts<R>(budgets: readonly CountedBudget[], work: () => Work<R | undefined>): MaybePromise<R> {
    const result = db.writeSoon(work)
    return result instanceof Promise || result === undefined ? opening(budgets, work, result) : result
  }

  async function opening<R>(
    budgets: readonly CountedBudget[],
    work: () => Work<R | undefined>,
    first: MaybePromise<R | undefined>,
  ): Promise<R> {
    for (let result = await first; ; result = await db.writeSoon(work)) {
      if (result !== undefined) return result
      await db.writeSoon(() => openAccounts(budgets))
    }
  }

  return {
    reserve(reservation, budgets) {
      const reserving = () => withAccounts(budgets, () => reserve(reservation, budgets, processes.mark))
      const kept = processes.keep()
      return kept instanceof Promise ? kept.then(reserving) : reserving()
    },
    extend: (id, nano, budgets) => db.writeSoon(() => extend(id, nano, budgets)),
    cancel: (id) => db.writeSoon(() => cancel(id)),
    async spends(budgets) {
      const find = await db.read(findAccounts(budgets))
      return Promise.all(
        budgets.map(async (budget): Promise<Spend> => {
          const account = find(budget)
          if (account) return spendOf(account)
          const { start, end } = budget
          return { start, end, spent: await db.read(spentInLedger(budget)), reserved: 0 }
        }),
      )
    },
    async reset(budgets) {
      await withAccounts(budgets, () => clear(budgets))
    },
    async orphans() {
      const found = await db.read(rows<ReservationRow>(sql`SELECT * FROM limit_reservation ORDER BY at, id`))
      const hasEnded = await processes.ended(found.map(({ process }) => process))
      return found.flatMap(({ shares: _, ...reservation }) => (hasEnded(reservation.process) ? [reservation] : []))
    },
  }
}

function areThere(accounts: (SpendRow | undefined)[]): accounts is SpendRow[] {
  return !accounts.includes(undefined)
}

/** Undefined where an account is missing. */
function* reserve(
  reservation: Reservation,
  budgets: readonly AskedBudget[],
  process: string,
): Work<Reserved | undefined> {
  const { id, at, nano, user, key, plugin, model, input, output } = reservation
  const find = yield* lockAccounts(budgets)
  const accounts = budgets.map(find)
  if (!areThere(accounts)) return undefined
  const full = accounts.findIndex((account, place) => isFull(account, nano, budgets[place]!))
  if (full >= 0) return { refused: full, spend: spendOf(accounts[full]!) }
  const warned = budgets.flatMap((budget, place) => (isDue(accounts[place]!, budget) ? [place] : []))
  yield* together(
    addReserved(
      accounts.map((account) => account.id),
      nano,
    ),
    run(
      sql`INSERT INTO limit_reservation (id, process, at, nano, "user", key, plugin, model, input, output, shares)
          VALUES (${id}, ${process}, ${at}, ${nano}, ${user}, ${key}, ${plugin}, ${model}, ${input}, ${output},
            ${writeShares(accounts, budgets)})`,
    ),
    noteWarnings(warned.map((place) => [accounts[place]!.id, budgets[place]!.limit])),
  )
  const spends = accounts.map((account): Spend => ({ ...spendOf(account), reserved: account.reserved + nano }))
  return { refused: undefined, spends, warned }
}

function* noteWarnings(warnings: readonly (readonly [id: number, limit: number])[]): Work<void> {
  if (warnings.length === 0) return
  const table = tableOf({ id: 'integer', warned: 'integer' }, warnings)
  yield* run(sql`UPDATE limit_spend AS s SET warned = w.warned FROM ${table} AS w WHERE s.id = w.id`)
}

function isFull({ spent, cleared, reserved }: SpendRow, nano: number, { limit }: AskedBudget): boolean {
  return spent - cleared + reserved + nano > limit
}

/** Whether the warning of a budget is due for the first time. */
function isDue({ spent, cleared, warned }: SpendRow, { limit, warn }: AskedBudget): boolean {
  return warned !== limit && limit !== 0 && (spent - cleared) * 100 >= limit * warn
}

function* extend(id: string, nano: number, budgets: readonly AskedBudget[]): Work<boolean> {
  const reservation = yield* lockReservation(id)
  if (!reservation) return false
  const hard = budgets.filter((budget) => budget.hard)
  const isAdded = yield* addToShares(reservation, nano, hard)
  if (isAdded) yield* run(sql`UPDATE limit_reservation SET nano = nano + ${nano} WHERE id = ${id}`)
  return isAdded
}

function* cancel(id: string): Work<void> {
  const reservation = yield* lockReservation(id)
  if (!reservation) return
  yield* addToShares(reservation, -reservation.nano, [])
  yield* run(sql`DELETE FROM limit_reservation WHERE id = ${id}`)
}

function lockReservation(id: string): Work<ReservationRow | undefined> {
  return row(sql`SELECT * FROM limit_reservation WHERE id = ${id} ${forUpdate}`)
}

/** Adds to the reserved amounts in the accounts of a reservation; false where a hard budget has not enough left. */
function* addToShares(reservation: ReservationRow, nano: number, hard: readonly AskedBudget[]): Work<boolean> {
  const ids = readShares(reservation).map(([account]) => account)
  const find = yield* lockAccounts(hard, ids)
  const isRefused = hard.some((budget) => {
    const account = find(budget)
    return account !== undefined && isFull(account, nano, budget)
  })
  if (!isRefused) yield* addReserved(ids, nano)
  return !isRefused
}

/** For accounts that are locked: a request has few. */
function addReserved(ids: readonly number[], nano: number): Work<unknown> {
  return together(...ids.map((id) => run(sql`UPDATE limit_spend SET reserved = reserved + ${nano} WHERE id = ${id}`)))
}

/** Begins accounts again at nothing spent; undefined where one is missing. */
function* clear(budgets: readonly CountedBudget[]): Work<true | undefined> {
  const find = yield* lockAccounts(budgets)
  const accounts = budgets.map(find)
  if (!areThere(accounts)) return undefined
  const ids = accounts.map(({ id }) => id)
  yield* run(sql`UPDATE limit_spend SET cleared = spent, warned = NULL WHERE id ${among(ids)}`)
  return true
}
