import type { LedgerRow, RowQuery, UsageGroup, UsageQuery } from '../../usage/ledger/ledger.ts'
import { columns, groupsOf, type NameColumn, namesAsked, nothingFound } from '../shared/ledger-report.ts'
import { dayNumber, type LedgerRecord, rowOf } from '../shared/ledger-rows.ts'
import { columnsOfSums } from '../shared/ledger-sums.ts'
import type { Database } from './connection.ts'
import type { LedgerNames } from './ledger-names.ts'

/** Rows read at once: some milliseconds. */
const slice = 1000

/** The columns of a query that must match, with the numbers of their values; undefined where a name is unknown. */
function asked(query: RowQuery, names: LedgerNames): readonly (readonly [NameColumn, number])[] | undefined {
  const found: (readonly [NameColumn, number])[] = []
  for (const [column, name] of namesAsked(query)) {
    const id = names.find(name)
    if (id === undefined) return undefined
    found.push([column, id])
  }
  return found
}

/** Sums by the columns of the query, in their order. Throws nothing; at most `query.most` groups, where that is set. */
export function summedUp(db: Database, query: UsageQuery, names: LedgerNames): readonly UsageGroup[] {
  const matches = asked(query, names)
  if (!matches) return nothingFound(query)
  const by = query.by.map((name) => columns[name])
  const tests = ['day BETWEEN ? AND ?', ...matches.map(([column]) => `${column} = ?`)]
  const found = db
    .prepare<unknown[], number[]>(
      `SELECT ${[...by, ...columnsOfSums.map((name) => `ifnull(sum(${name}), 0)`)].join(', ')}
       FROM ledger_day WHERE ${tests.join(' AND ')} ${by.length > 0 ? `GROUP BY ${by.join(', ')}` : ''} LIMIT ?`,
    )
    .raw()
    .all(dayNumber(query.since), dayNumber(query.until), ...matches.map(([, id]) => id), query.most ?? -1)
  return groupsOf(query, found, names.nameOf)
}

/**
 * The rows of a query by day and time. Each read takes the next thousand rows of the time, of which those that match are
 * handed on: no read takes long, however few match.
 */
export async function* readRows(
  db: Database,
  query: RowQuery,
  names: LedgerNames,
): AsyncGenerator<readonly LedgerRow[]> {
  const matches = asked(query, names)
  if (!matches) return
  const read = db.prepare<unknown[], LedgerRecord & { readonly rowid: number }>(
    `SELECT rowid, * FROM ledger WHERE day <= ? AND (day, at, rowid) > (?, ?, ?) ORDER BY day, at, rowid LIMIT ${slice}`,
  )
  const last = dayNumber(query.until)
  let after = [dayNumber(query.since), Number.MIN_SAFE_INTEGER, 0]
  for (;;) {
    const found = read.all(last, ...after)
    if (found.length === 0) return
    const matching = found.filter((record) => matches.every(([column, id]) => record[column] === id))
    if (matching.length > 0) yield matching.map((record) => rowOf(record, names.nameOf))
    else await new Promise(setImmediate)
    const { day, at, rowid } = found.at(-1)!
    after = [day, at, rowid]
  }
}
