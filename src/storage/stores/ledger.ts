import { pauseFor } from '../../process/process.ts'
import type { LedgerRow, LedgerStore } from '../../usage/usage.ts'
import { type InsertInto, insert, type StoreDatabase, sql, together, type Work, word } from '../port/port.ts'
import { dayNumber, ledgerColumns, valuesOf } from '../shared/ledger-rows.ts'
import { columnsOfSums, sumsByDay } from '../shared/ledger-sums.ts'
import { problemsIn } from './ledger-check.ts'
import { createLedgerNames } from './ledger-names.ts'
import { minutesOf, readRows, sumUp } from './ledger-reports.ts'
import { budgetProblems, readSettlement, settle } from './limit-settlement.ts'

/** Rows removed at once: some milliseconds. */
const slice = 1000

/** The place of a row, and all rows of a list of places. */
const place = word('rowid', 'ctid')
const among = { begin: word('IN (', '= ANY (ARRAY ('), end: word(')', '))') } as const
const skipLocked = word('', 'FOR UPDATE SKIP LOCKED')

/** The usage of models: attempts, and their sums by day. */
export function createLedgerStore(db: StoreDatabase): LedgerStore {
  const names = createLedgerNames(db)
  return {
    async append(rows) {
      if (rows.length === 0) return 0
      const idOf = await names.idsOf(namesIn(rows))
      return db.append(() => append(rows, idOf))
    },
    sums: (query) => sumUp(db, query, names),
    minutes: (query) => minutesOf(db, query, names),
    rows: async (query) => readRows(db, query, names),
    check: async () => [...(await problemsIn(db, names)), ...(await db.moment(budgetProblems))],
    async prune(before) {
      const day = dayNumber(before)
      await db.run(sql`UPDATE ledger_begin SET day = ${day} WHERE day < ${day}`)
      let removed = 0
      for (let changes = slice; changes === slice && db.goesOn(); ) {
        const begun = performance.now()
        changes = await db.run(
          sql`DELETE FROM ledger WHERE ${place} ${among.begin}
                SELECT ${place} FROM ledger WHERE day < ${day} ORDER BY day, at LIMIT ${slice} ${skipLocked}${among.end}`,
        )
        removed += changes
        if (changes === slice) await pauseFor(performance.now() - begun)
      }
      return removed
    },
  }
}

function* append(rows: readonly LedgerRow[], idOf: (name: string) => number): Work<number> {
  const settlement = yield* readSettlement(rows)
  const added = yield* insertRows(settlement.rows, idOf)
  if (added.length > 0) yield* together(addSums(added, idOf), settle(added, settlement.held))
  return added.length
}

/** All names in rows. */
function* namesIn(rows: readonly LedgerRow[]): Generator<string> {
  for (const { user, key, plugin, model, amounts, cost, reason } of rows) {
    yield user
    yield model
    for (const name of [key, plugin, amounts.serviceTier, amounts.speed, cost.priceId, reason])
      if (name != null) yield name
  }
}

const ledger: InsertInto = {
  table: 'ledger',
  columns: ledgerColumns,
  onConflict: '(request, attempt) DO NOTHING',
  key: ['request', 'attempt'],
}

/** Inserts rows; the result are those that were not there. */
function* insertRows(rows: readonly LedgerRow[], idOf: (name: string) => number): Work<readonly LedgerRow[]> {
  // In one order: of processes that add the same rows, each waits for the other's and none for the first again.
  const sorted = rows.length > 1 ? rows.toSorted(byAttempt) : rows
  const isNew = yield* insert(
    ledger,
    sorted.map((row) => valuesOf(row, idOf)),
  )
  return sorted.filter((_row, at) => isNew[at])
}

function byAttempt(a: LedgerRow, b: LedgerRow): number {
  return a.request < b.request ? -1 : a.request > b.request ? 1 : a.attempt - b.attempt
}

const places = ['day', '"user"', 'api_key', 'plugin', 'model']

const days: InsertInto = {
  table: 'ledger_day',
  columns: Object.fromEntries([...places, ...columnsOfSums].map((name) => [name, 'integer'])),
  onConflict: `(${places.join(', ')}) DO UPDATE SET ${columnsOfSums
    .map((name) => `${name} = ledger_day.${name} + excluded.${name}`)
    .join(', ')}`,
}

function* addSums(rows: readonly LedgerRow[], idOf: (name: string) => number): Work<void> {
  // In one order, as the rows.
  const groups = [...sumsByDay(rows, idOf)].sort((a, b) => compare(a.place, b.place))
  yield* insert(
    days,
    groups.map((group) => [...group.place, ...group.sums]),
  )
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}
