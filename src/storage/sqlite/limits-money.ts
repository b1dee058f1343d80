import { setTimeout as sleep } from 'node:timers/promises'
import type { AskedBudget, LimitStore, Reservation, Reserved, Spend } from '../../usage/limits/store.ts'
import { mayRun, processMark } from '../shared/process-mark.ts'
import { type ReservationRow, readShares, writeShares } from '../shared/settlement.ts'
import { type SpendRow, spendOf } from '../shared/spend-rows.ts'
import { withoutWaiting } from './busy.ts'
import type { Database } from './connection.ts'
import { spendAccounts } from './limits-spend.ts'

type Money = Pick<LimitStore, 'reserve' | 'extend' | 'cancel' | 'spends' | 'reset' | 'orphans'>

/** Another process holds the write lock for a moment: tried again so often, with such pauses in milliseconds. */
const tries = 60
const pauseMs = 25

/** Budgets in SQLite: each change is one transaction that holds the write lock, so that processes share them exactly. */
export function moneyOf(db: Database): Money {
  const accounts = spendAccounts(db)
  const add = db.prepare<[number, number, number, number]>(
    'UPDATE limit_spend SET reserved = reserved + ? WHERE id = ? AND spent - cleared + reserved + ? <= ?',
  )
  const change = db.prepare<[number, number]>('UPDATE limit_spend SET reserved = reserved + ? WHERE id = ?')
  const warned = db.prepare<[number, number]>('UPDATE limit_spend SET warned = ? WHERE id = ?')
  const clear = db.prepare<[number]>('UPDATE limit_spend SET cleared = spent, warned = NULL WHERE id = ?')
  const insert = db.prepare(
    `INSERT INTO limit_reservation (id, process, at, nano, user, key, plugin, model, input, output, shares)
     VALUES (:id, :process, :at, :nano, :user, :key, :plugin, :model, :input, :output, :shares)`,
  )
  const find = db.prepare<[string], ReservationRow>('SELECT * FROM limit_reservation WHERE id = ?')
  const list = db.prepare<[], ReservationRow>('SELECT * FROM limit_reservation ORDER BY at, id')
  const lengthen = db.prepare<[number, string]>('UPDATE limit_reservation SET nano = nano + ? WHERE id = ?')
  const remove = db.prepare<[string]>('DELETE FROM limit_reservation WHERE id = ?')

  const reserve = db.transaction((reservation: Reservation, budgets: readonly AskedBudget[]): Reserved => {
    const { nano } = reservation
    const rows = budgets.map((budget) => accounts.open(budget))
    const isFull = ({ spent, cleared, reserved }: SpendRow, { limit }: AskedBudget) =>
      spent - cleared + reserved + nano > limit
    const full = rows.findIndex((row, at) => isFull(row, budgets[at]!))
    if (full >= 0) return { refused: full, spend: spendOf(rows[full]!) }
    const due: number[] = []
    for (const [at, row] of rows.entries()) {
      const { limit, warn } = budgets[at]!
      if (add.run(nano, row.id, nano, limit).changes === 0) throw new Error('A budget changed under its lock')
      if (row.warned === limit || limit === 0 || (row.spent - row.cleared) * 100 < limit * warn) continue
      warned.run(limit, row.id)
      due.push(at)
    }
    const shares = writeShares(rows, budgets)
    insert.run({ ...reservation, process: processMark(), shares })
    const spends = rows.map((row): Spend => ({ ...spendOf(row), reserved: row.reserved + nano }))
    return { refused: undefined, spends, warned: due }
  })
  const extend = db.transaction((id: string, nano: number, limits: readonly AskedBudget[]): boolean => {
    const row = find.get(id)
    if (!row) return false
    const shares = readShares(row)
    const isFull = limits.some((budget) => {
      const account = accounts.find(budget)
      return budget.hard && account && account.spent - account.cleared + account.reserved + nano > budget.limit
    })
    if (isFull) return false
    for (const [account] of shares) change.run(nano, account)
    lengthen.run(nano, id)
    return true
  })
  const cancel = db.transaction((id: string): void => {
    const row = find.get(id)
    if (!row) return
    for (const [account] of readShares(row)) change.run(-row.nano, account)
    remove.run(id)
  })

  return {
    reserve: (reservation, budgets) => patiently(() => reserve.immediate(reservation, budgets)),
    extend: (id, nano, budgets) => patiently(() => extend.immediate(id, nano, budgets)),
    cancel: (id) => patiently(() => cancel.immediate(id)),
    spends: async (budgets) =>
      budgets.map((budget) => {
        const row = accounts.find(budget)
        if (row) return spendOf(row)
        return { start: budget.start, end: budget.end, spent: accounts.inLedger(budget), reserved: 0 }
      }),
    async reset(budgets) {
      db.transaction(() => {
        for (const budget of budgets) clear.run(accounts.open(budget).id)
      }).immediate()
    },
    orphans: async () =>
      list.all().flatMap(({ shares: _, ...reservation }) => (mayRun(reservation.process) ? [] : [reservation])),
  }

  /** Runs a write: at once where the lock is free, else when it is. The event loop is not held up meanwhile. */
  function patiently<T>(write: () => T): T | Promise<T> {
    try {
      return withoutWaiting(db, write)
    } catch (reason) {
      if (!isBusy(reason)) throw reason
      return waiting(write)
    }
  }

  async function waiting<T>(write: () => T): Promise<T> {
    for (let round = 1; ; round++) {
      await sleep(pauseMs)
      try {
        return withoutWaiting(db, write)
      } catch (reason) {
        if (!isBusy(reason) || round === tries) throw reason
      }
    }
  }
}

function isBusy(reason: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((reason as { code?: unknown } | null)?.code))
}
