import type { LedgerRow } from '../../usage/ledger/ledger.ts'
import { subjectOf } from '../../usage/limits/documents.ts'
import type { Database } from './connection.ts'
import { dayNumber } from './ledger-rows.ts'
import { ledgerSum, type SpendRow } from './limits-spend.ts'

/** The part of the ledger's transaction that counts costs in budgets. */
export interface Settlement {
  /** Whether a row's reservation was booked by an estimate already, after its process had ended. */
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
    isBooked: ({ reservation, request }) =>
      reservation !== undefined && reservation !== request && booked.get(reservation) === 1,
    settle(rows) {
      if (rows.length === 0 || isAnything.get() === undefined) return
      for (const row of rows) {
        const { at, day, key, user, plugin } = row
        const cost = row.cost.nano ?? 0
        const subjects = ['all', subjectOf('user', user)]
        if (key !== null) subjects.push(subjectOf('key', key))
        if (plugin !== null) subjects.push(subjectOf('plugin', plugin))
        if (cost !== 0) for (const subject of subjects) spend.run(cost, subject, at, at, dayNumber(day))
        if (row.reservation !== undefined) end(row, row.reservation)
      }
    },
  }

  function end({ at, lowerBound, cost: { nano: priced } }: LedgerRow, id: string): void {
    const reservation = reserved.get(id)
    if (!reservation) return
    const { nano, shares } = reservation
    const cost = priced ?? 0
    for (const [share, isHard] of JSON.parse(shares) as readonly (readonly [number, 0 | 1])[]) {
      const period = account.get(share)
      if (!period) continue
      // The clock was set back since: the row lies before the period that it is paid from.
      const missing = at < period.start ? cost : 0
      // An answer without a known price, as of a service tier that its caller chose, was not free.
      const kept = priced === null || (lowerBound && isHard === 1) ? Math.max(0, nano - cost) : 0
      giveBack.run(nano, missing + kept, missing + kept, share)
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
  const problems = rows.flatMap((row) => {
    const { subject, period, start, end, first_day: first, last_day: last, spent, beyond } = row
    const booked = ledgerSum(db, subject, { first, last }, start, end)
    const where = `budget of ${subject}, ${period} from ${new Date(start).toISOString().slice(0, 10)}`
    return booked === spent - beyond ? [] : [`${where}: ${spent - beyond} is counted, and ${booked} is in the ledger`]
  })
  const reserved = new Map<number, number>()
  for (const { nano, shares } of db
    .prepare<[], { nano: number; shares: string }>('SELECT nano, shares FROM limit_reservation')
    .iterate())
    for (const [id] of JSON.parse(shares) as readonly (readonly [number])[])
      reserved.set(id, (reserved.get(id) ?? 0) + nano)
  for (const { id, subject, period, reserved: counted } of rows)
    if (counted !== (reserved.get(id) ?? 0))
      problems.push(`budget of ${subject}, ${period}: ${counted} is reserved, and ${reserved.get(id) ?? 0} by requests`)
  return problems
}
