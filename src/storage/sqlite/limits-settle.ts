import type { LedgerRow } from '../../usage/ledger/ledger.ts'
import { dayNumber } from '../shared/ledger-rows.ts'
import { beyondRow, readShares, spendProblems, subjectsOf } from '../shared/settlement.ts'
import type { SpendRow } from '../shared/spend-rows.ts'
import type { Database } from './connection.ts'
import { ledgerSum } from './limits-spend.ts'

/** The part of the ledger's transaction that counts costs in budgets. */
export interface Settlement {
  /**
   * Whether the attempt is already booked under another id: as a row after its reservation was booked by an estimate,
   * once its process had ended, or as an estimate after its reservation was settled.
   */
  isBooked(row: LedgerRow): boolean
  /** Counts new rows in the accounts of all budgets that they concern, and ends their reservations. */
  settle(rows: readonly LedgerRow[]): void
}

/** Prepares the settlement; its methods run within the ledger's transaction. */
export function settlementOf(db: Database): Settlement {
  const isAnything = db.prepare<[], 1>('SELECT 1 FROM limit_spend LIMIT 1').pluck()
  const booked = db.prepare<[string], 1>('SELECT 1 FROM ledger WHERE request = ?').pluck()
  const spend = db.prepare<[number, string, number, number, number]>(
    `UPDATE limit_spend SET spent = spent + ? WHERE subject = ?
       AND CASE WHEN first_day IS NULL THEN start <= ? AND "end" > ? ELSE ? BETWEEN first_day AND last_day END`,
  )
  const reserved = db.prepare<[string], { nano: number; shares: string }>(
    'SELECT nano, shares FROM limit_reservation WHERE id = ?',
  )
  const account = db.prepare<[number], Pick<SpendRow, 'start'>>('SELECT start FROM limit_spend WHERE id = ?')
  const giveBack = db.prepare<[number, number, number, number]>(
    'UPDATE limit_spend SET reserved = reserved - ?, spent = spent + ?, beyond = beyond + ? WHERE id = ?',
  )
  const remove = db.prepare<[string]>('DELETE FROM limit_reservation WHERE id = ?')

  return {
    isBooked({ reservation, request }) {
      if (reservation === undefined) return false
      return reservation === request ? reserved.get(reservation) === undefined : booked.get(reservation) === 1
    },
    settle(rows) {
      if (rows.length === 0 || isAnything.get() === undefined) return
      for (const row of rows) {
        const { at, day } = row
        const cost = row.cost.nano ?? 0
        if (cost !== 0) for (const subject of subjectsOf(row)) spend.run(cost, subject, at, at, dayNumber(day))
        if (row.reservation !== undefined) end(row, row.reservation)
      }
    },
  }

  function end(row: LedgerRow, id: string): void {
    const reservation = reserved.get(id)
    if (!reservation) return
    const { nano } = reservation
    for (const [share, isHard] of readShares(reservation)) {
      const period = account.get(share)
      if (!period) continue
      const beyond = beyondRow(row, nano, isHard === 1, period.start)
      giveBack.run(nano, beyond, beyond, share)
    }
    remove.run(id)
  }
}

/** Accounts that differ from the ledger, one line each: those of periods with all their rows. */
export function budgetProblems(db: Database): readonly string[] {
  const rows = db
    .prepare<[], SpendRow & { period: string }>(
      `SELECT * FROM limit_spend WHERE ifnull(first_day, 0) > 0
         OR start >= ifnull((SELECT min(at) FROM ledger WHERE day = (SELECT min(day) FROM ledger)), start)`,
    )
    .all()
  const booked = rows.map((row) => ({
    ...row,
    booked: ledgerSum(db, row.subject, { first: row.first_day, last: row.last_day }, row.start, row.end),
  }))
  const reservations = db.prepare<[], { nano: number; shares: string }>('SELECT nano, shares FROM limit_reservation')
  return spendProblems(booked, reservations.all())
}
