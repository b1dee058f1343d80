import type { LedgerRow } from '../../usage/ledger/ledger.ts'
import { dayNumber } from '../shared/ledger-rows.ts'
import { beyondRow, type ReservationRow, readShares, spendProblems, subjectsOf } from '../shared/settlement.ts'
import type { SpendRow } from '../shared/spend-rows.ts'
import { holdOpenings, ledgerSum } from './limits-spend.ts'
import { numbersOf } from './numbers-of.ts'
import type { Database, Transaction } from './sql.ts'

type Held = Pick<ReservationRow, 'id' | 'nano' | 'shares'>

/** The part of the ledger's transaction that counts costs in budgets. */
export interface Settlement {
  /** The rows, without attempts that were already booked under another id. */
  readonly rows: readonly LedgerRow[]
  /** Counts new rows in the accounts of all budgets that they concern, and ends their reservations. */
  settle(added: readonly LedgerRow[]): Promise<void>
}

/** Begins the settlement, before the first row is written: reservations are locked from now on. */
export async function beginSettlement(tx: Transaction, rows: readonly LedgerRow[]): Promise<Settlement> {
  const ids = rows.flatMap(({ reservation }) => (reservation === undefined ? [] : [reservation]))
  const [, reservations, booked] = await Promise.all([
    holdOpenings(tx),
    ids.length === 0
      ? []
      : tx.rows<Held>('SELECT id, nano, shares FROM limit_reservation WHERE id = ANY($1) ORDER BY id FOR UPDATE', [
          ids,
        ]),
    ids.length === 0 ? [] : tx.rows<{ request: string }>('SELECT request FROM ledger WHERE request = ANY($1)', [ids]),
  ])
  const held = new Map(reservations.map((each) => [each.id, each]))
  return {
    rows: unbooked(rows, held, new Set(booked.map(({ request }) => request))),
    settle: (added) => settle(tx, added, held),
  }
}

/**
 * An attempt that its process left is booked once: by an estimate under the reservation's id, or by its own row, whichever
 * comes first.
 */
function unbooked(rows: readonly LedgerRow[], held: ReadonlyMap<string, Held>, booked: Set<string>) {
  return rows.filter(({ reservation: id, request }) => {
    if (id === undefined) return true
    if (id !== request) return !booked.has(id)
    if (held.has(id)) booked.add(id)
    return held.has(id)
  })
}

/** The amounts by which an account changes: nano-USD. */
interface Change {
  spent: number
  beyond: number
  reserved: number
}

async function settle(tx: Transaction, rows: readonly LedgerRow[], held: ReadonlyMap<string, Held>): Promise<void> {
  const ended = new Map(
    rows.flatMap((row) => (held.has(row.reservation ?? '') ? [[row.reservation!, row] as const] : [])),
  )
  const accounts = await lockConcerned(
    tx,
    rows,
    [...ended.keys()].map((id) => held.get(id)!),
  )
  const changes = new Map<number, Change>(accounts.map(({ id }) => [id, { spent: 0, beyond: 0, reserved: 0 }]))
  for (const row of rows) {
    const cost = row.cost.nano ?? 0
    if (cost === 0) continue
    const subjects = subjectsOf(row)
    for (const account of accounts)
      if (subjects.includes(account.subject) && isIn(account, row)) changes.get(account.id)!.spent += cost
  }
  const starts = new Map(accounts.map(({ id, start }) => [id, start]))
  for (const [id, row] of ended) {
    const reservation = held.get(id)!
    for (const [share, isHard] of readShares(reservation)) {
      const change = changes.get(share)
      if (!change) continue
      const beyond = beyondRow(row, reservation.nano, isHard === 1, starts.get(share)!)
      change.reserved -= reservation.nano
      change.spent += beyond
      change.beyond += beyond
    }
  }
  await write(tx, changes, [...ended.keys()])
}

/** The accounts that rows may count in, and those of reservations, locked in one order. */
function lockConcerned(
  tx: Transaction,
  rows: readonly LedgerRow[],
  ended: readonly Held[],
): Promise<readonly SpendRow[]> {
  const subjects = new Set(rows.flatMap(subjectsOf))
  const ids = ended.flatMap((reservation) => readShares(reservation).map(([id]) => id))
  let [from, to, first, last] = [rows[0]!.at, rows[0]!.at, dayNumber(rows[0]!.day), dayNumber(rows[0]!.day)]
  for (const { at, day } of rows) {
    from = Math.min(from, at)
    to = Math.max(to, at)
    first = Math.min(first, dayNumber(day))
    last = Math.max(last, dayNumber(day))
  }
  return tx.rows<SpendRow>(
    `SELECT * FROM limit_spend WHERE id = ANY($1) OR (subject = ANY($2)
       AND CASE WHEN first_day IS NULL THEN start <= $4 AND "end" > $3 ELSE first_day <= $6 AND last_day >= $5 END)
     ORDER BY id FOR UPDATE`,
    [ids, [...subjects], from, to, first, last],
  )
}

/** Whether a row lies in the period of an account. */
function isIn({ first_day: first, last_day: last, start, end }: SpendRow, { at, day }: LedgerRow): boolean {
  if (first === null) return start <= at && end > at
  return first <= dayNumber(day) && dayNumber(day) <= last!
}

async function write(tx: Transaction, changes: ReadonlyMap<number, Change>, ended: readonly string[]): Promise<void> {
  const changed = [...changes].filter(
    ([, { spent, beyond, reserved }]) => spent !== 0 || beyond !== 0 || reserved !== 0,
  )
  const values = (name: keyof Change) => numbersOf(changed.map(([, change]) => change[name]))
  await Promise.all([
    changed.length > 0 &&
      tx.run(
        `UPDATE limit_spend s SET spent = s.spent + c.spent, beyond = s.beyond + c.beyond, reserved = s.reserved + c.reserved
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (id, spent, beyond, reserved)
         WHERE s.id = c.id`,
        [numbersOf(changed.map(([id]) => id)), values('spent'), values('beyond'), values('reserved')],
      ),
    ended.length > 0 && tx.run('DELETE FROM limit_reservation WHERE id = ANY($1)', [ended]),
  ])
}

/** Accounts that differ from the ledger, one line each: those of periods with all their rows. Read at one moment. */
export function budgetProblems(db: Database): Promise<readonly string[]> {
  return db.transaction(
    async (tx) => {
      const [rows, reservations] = await Promise.all([
        tx.rows<SpendRow & { period: string }>(
          `SELECT * FROM limit_spend WHERE coalesce(first_day, 0) > 0
             OR start >= coalesce((SELECT min(at) FROM ledger WHERE day = (SELECT min(day) FROM ledger)), start)
           ORDER BY id`,
        ),
        tx.rows<Held>('SELECT id, nano, shares FROM limit_reservation'),
      ])
      const booked = await Promise.all(
        rows.map((row) => {
          const { subject, first_day: first, last_day: last, start, end } = row
          return ledgerSum(tx, subject, { first, last }, start, end)
        }),
      )
      return spendProblems(
        rows.map((row, at) => ({ ...row, booked: booked[at]! })),
        reservations,
      )
    },
    { level: 'repeatable read', readOnly: true },
  )
}
