import type { LedgerRow } from '../../usage/usage.ts'
import { among, forUpdate, rows, run, sql, tableOf, together, type Work } from '../port/port.ts'
import { dayNumber } from '../shared/ledger-rows.ts'
import { beyondRow, type ReservationRow, readShares, spendProblems, subjectsOf } from '../shared/settlement.ts'
import type { SpendRow } from '../shared/spend-rows.ts'
import { holdOpenings, ledgerSum } from './limit-accounts.ts'

type Held = Pick<ReservationRow, 'id' | 'nano' | 'shares'>

/** The part of the ledger's transaction that counts costs in budgets. */
export interface Settlement {
  /** The rows, without attempts that were already booked under another id. */
  readonly rows: readonly LedgerRow[]
  /** The reservations that the rows end, by their ids; locked until the transaction ends. */
  readonly held: ReadonlyMap<string, Held>
}

/** Begins the settlement, before the first row is written. */
export function* readSettlement(all: readonly LedgerRow[]): Work<Settlement> {
  const ids = all.flatMap(({ reservation }) => (reservation === undefined ? [] : [reservation]))
  if (ids.length === 0) {
    yield* holdOpenings()
    return { rows: all, held: new Map() }
  }
  const [, reservations, booked] = yield* together(
    holdOpenings(),
    rows<Held>(sql`SELECT id, nano, shares FROM limit_reservation WHERE id ${among(ids)} ORDER BY id ${forUpdate}`),
    rows<{ request: string }>(sql`SELECT request FROM ledger WHERE request ${among(ids)}`),
  )
  const held = new Map(reservations.map((each) => [each.id, each]))
  return { rows: unbooked(all, held, new Set(booked.map(({ request }) => request))), held }
}

/** An attempt that its process left is booked once: by an estimate or its own row, the first to come. */
function unbooked(all: readonly LedgerRow[], held: ReadonlyMap<string, Held>, booked: Set<string>) {
  return all.filter(({ reservation: id, request }) => {
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

/** Counts new rows in the accounts of all budgets that they concern, and ends their reservations. */
export function* settle(added: readonly LedgerRow[], held: ReadonlyMap<string, Held>): Work<void> {
  const ended = new Map(
    added.flatMap((row) => (held.has(row.reservation ?? '') ? [[row.reservation!, row] as const] : [])),
  )
  const accounts = yield* lockConcerned(
    added,
    [...ended.keys()].map((id) => held.get(id)!),
  )
  const changes = new Map<number, Change>(accounts.map(({ id }) => [id, { spent: 0, beyond: 0, reserved: 0 }]))
  if (accounts.length > 0)
    for (const row of added) {
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
  yield* write(changes, [...ended.keys()])
}

/** The accounts that rows may count in, and those of reservations, locked in one order. */
function lockConcerned(added: readonly LedgerRow[], ended: readonly Held[]): Work<readonly SpendRow[]> {
  const subjects = [...new Set(added.flatMap(subjectsOf))]
  const ids = ended.flatMap((reservation) => readShares(reservation).map(([id]) => id))
  let [from, to, first, last] = [added[0]!.at, added[0]!.at, dayNumber(added[0]!.day), dayNumber(added[0]!.day)]
  for (const { at, day } of added) {
    from = Math.min(from, at)
    to = Math.max(to, at)
    first = Math.min(first, dayNumber(day))
    last = Math.max(last, dayNumber(day))
  }
  return rows<SpendRow>(
    sql`SELECT * FROM limit_spend WHERE id ${among(ids)} OR (subject ${among(subjects)}
          AND CASE WHEN first_day IS NULL THEN start <= ${to} AND "end" > ${from}
            ELSE first_day <= ${last} AND last_day >= ${first} END)
        ORDER BY id ${forUpdate}`,
  )
}

/** Whether a row is in the period of an account. */
function isIn({ first_day: first, last_day: last, start, end }: SpendRow, { at, day }: LedgerRow): boolean {
  if (first === null) return start <= at && end > at
  return first <= dayNumber(day) && dayNumber(day) <= last!
}

function* write(changes: ReadonlyMap<number, Change>, ended: readonly string[]): Work<void> {
  const changed = [...changes]
    .filter(([, { spent, beyond, reserved }]) => spent !== 0 || beyond !== 0 || reserved !== 0)
    .map(([id, { spent, beyond, reserved }]) => [id, spent, beyond, reserved])
  const table = tableOf({ id: 'integer', spent: 'integer', beyond: 'integer', reserved: 'integer' }, changed)
  if (changed.length > 0)
    yield* run(
      sql`UPDATE limit_spend AS s SET spent = s.spent + c.spent, beyond = s.beyond + c.beyond,
            reserved = s.reserved + c.reserved FROM ${table} AS c WHERE s.id = c.id`,
    )
  if (ended.length > 0) yield* run(sql`DELETE FROM limit_reservation WHERE id ${among(ended)}`)
}

/** Accounts that differ from the ledger, one line each: those of periods with all their rows. To be read at one moment. */
export function* budgetProblems(): Work<readonly string[]> {
  const [accounts, reservations] = yield* together(
    rows<SpendRow & { period: string }>(
      sql`SELECT * FROM limit_spend WHERE coalesce(first_day, 0) > 0
            OR start >= coalesce((SELECT min(at) FROM ledger WHERE day = (SELECT min(day) FROM ledger)), start)
          ORDER BY id`,
    ),
    rows<Held>(sql`SELECT id, nano, shares FROM limit_reservation`),
  )
  const booked = yield* together(
    ...accounts.map(({ subject, first_day: first, last_day: last, start, end }) =>
      ledgerSum(subject, { first, last }, start, end),
    ),
  )
  return spendProblems(
    accounts.map((account, at) => ({ ...account, booked: booked[at]! })),
    reservations,
  )
}
