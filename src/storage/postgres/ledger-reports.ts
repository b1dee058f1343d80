import type { LedgerRow, RowQuery, UsageGroup, UsageQuery } from '../../usage/ledger/ledger.ts'
import { columns, groupsOf, type NameColumn, namesAsked, nothingFound } from '../shared/ledger-report.ts'
import { dayNumber, type LedgerRecord, rowOf } from '../shared/ledger-rows.ts'
import { columnsOfSums } from '../shared/ledger-sums.ts'
import type { LedgerNames } from './ledger-names.ts'
import type { Database } from './sql.ts'

/** Rows that one statement looks through: some milliseconds, however few of them match. */
const slice = 5000

/** The columns of a query that must match, with the numbers of their values; undefined where a name is unknown. */
async function asked(query: RowQuery, names: LedgerNames) {
  const wanted = namesAsked(query)
  const idOf = await names.find(wanted.map(([, name]) => name))
  const found: (readonly [NameColumn, number])[] = []
  for (const [column, name] of wanted) {
    const id = idOf(name)
    if (id === undefined) return undefined
    found.push([column, id])
  }
  return found
}

/** Sums by the columns of the query, in their order; at most `query.most` groups, where that is set. */
export async function summedUp(db: Database, query: UsageQuery, names: LedgerNames): Promise<readonly UsageGroup[]> {
  const matches = await asked(query, names)
  if (!matches) return nothingFound(query)
  const by = query.by.map((name) => columns[name])
  const tests = ['day BETWEEN $1 AND $2', ...matches.map(([column], at) => `"${column}" = $${at + 4}`)]
  const groups = by.map((column) => `"${column}"`).join(', ')
  const rows = await db.rows<Record<string, number>>(
    `SELECT ${[...by.map((column) => `"${column}"`), ...columnsOfSums.map((name) => `coalesce(sum(${name}), 0) AS ${name}`)].join(', ')}
     FROM ledger_day WHERE ${tests.join(' AND ')} ${by.length > 0 ? `GROUP BY ${groups}` : ''} LIMIT $3`,
    [dayNumber(query.since), dayNumber(query.until), query.most ?? null, ...matches.map(([, id]) => id)],
  )
  const named = by.filter((column) => column !== 'day')
  const nameOf = await names.namesOf(rows.flatMap((row) => named.map((column) => row[column]!)).filter((id) => id > 0))
  const all = [...by, ...columnsOfSums]
  return groupsOf(
    query,
    rows.map((row) => all.map((column) => row[column]!)),
    nameOf,
  )
}

type StoredRecord = LedgerRecord & { readonly id: number; readonly fits: boolean }

/**
 * The rows of a query by day and time. Each read looks through the next thousands of the time, and comes back with those that
 * match, and with the last one in any case: the next read goes on after it.
 */
export async function* readRows(
  db: Database,
  query: RowQuery,
  names: LedgerNames,
): AsyncGenerator<readonly LedgerRow[]> {
  const matches = await asked(query, names)
  if (!matches) return
  const fits = ['true', ...matches.map(([column], at) => `"${column}" = $${at + 5}`)].join(' AND ')
  const last = dayNumber(query.until)
  let after = [dayNumber(query.since), Number.MIN_SAFE_INTEGER, 0]
  for (;;) {
    const found = await db.rows<StoredRecord>(
      `WITH part AS (
         SELECT *, row_number() OVER (ORDER BY day, at, id) AS place, ${fits} AS fits FROM (
           SELECT * FROM ledger WHERE day <= $1 AND (day, at, id) > ($2, $3, $4) ORDER BY day, at, id LIMIT ${slice}) next)
       SELECT * FROM part WHERE fits OR place = (SELECT count(*) FROM part) ORDER BY place`,
      [last, ...after, ...matches.map(([, id]) => id)],
    )
    const end = found.at(-1)
    if (!end) return
    const matching = end.fits ? found : found.slice(0, -1)
    if (matching.length > 0) {
      const nameOf = await names.namesOf(matching.flatMap(namesIn))
      yield matching.map((record) => rowOf(record, nameOf))
    }
    after = [end.day, end.at, end.id]
  }
}

function namesIn({ user, api_key, plugin, model, service_tier, speed, price }: LedgerRecord): readonly number[] {
  return [user, api_key, plugin, model, service_tier, speed, price].filter((id) => id !== null)
}
