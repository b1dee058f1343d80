import type { LedgerRow, RowQuery, UsageGroup, UsageQuery, UsageSums } from '../../usage/ledger/ledger.ts'
import type { Database } from './connection.ts'
import type { LedgerNames } from './ledger-names.ts'
import { dayNumber, dayText, type LedgerRecord, rowOf } from './ledger-rows.ts'
import { columnsOfSums } from './ledger-sums.ts'

/** Rows read at once: some milliseconds. */
const slice = 1000

const columns = { day: 'day', model: 'model', key: 'api_key', user: 'user', plugin: 'plugin' } as const

/** The columns of a query that must match, with the numbers of their values; undefined where a name is unknown. */
function asked(query: RowQuery, names: LedgerNames): readonly (readonly [NameColumn, number])[] | undefined {
  const found: (readonly [NameColumn, number])[] = []
  for (const column of ['user', 'key', 'model', 'plugin'] as const) {
    const name = query[column]
    if (name === undefined) continue
    const id = names.find(name)
    if (id === undefined) return undefined
    found.push([columns[column], id])
  }
  return found
}

type NameColumn = Exclude<(typeof columns)[keyof typeof columns], 'day'>

/** Sums by the columns of the query, in their order. Throws nothing; at most `query.most` groups, where that is set. */
export function summedUp(db: Database, query: UsageQuery, names: LedgerNames): readonly UsageGroup[] {
  const matches = asked(query, names)
  if (!matches) return query.by.length > 0 ? [] : [noSums]
  const by = query.by.map((name) => columns[name])
  const tests = ['day BETWEEN ? AND ?', ...matches.map(([column]) => `${column} = ?`)]
  const found = db
    .prepare<unknown[], number[]>(
      `SELECT ${[...by, ...columnsOfSums.map((name) => `ifnull(sum(${name}), 0)`)].join(', ')}
       FROM ledger_day WHERE ${tests.join(' AND ')} ${by.length > 0 ? `GROUP BY ${by.join(', ')}` : ''} LIMIT ?`,
    )
    .raw()
    .all(dayNumber(query.since), dayNumber(query.until), ...matches.map(([, id]) => id), query.most ?? -1)
  const named = (column: string, value: number) =>
    column === 'day' ? dayText(value) : value === 0 ? null : names.nameOf(value)
  const result = found.map((row) => {
    const group: Record<string, string | number | null> = {}
    for (const [at, name] of query.by.entries()) group[name] = named(name, row[at]!)
    for (const [at, name] of told.entries()) group[name] = row[by.length + at]!
    return group as unknown as UsageGroup
  })
  return sorted(result, query.by)
}

/** The names of the sums in an answer, in the order of their columns. */
const told = [
  'requests',
  'failed',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'characters',
  'cost_nano',
  'unpriced',
  'estimated',
] as const satisfies readonly (keyof UsageSums)[]

const noSums = Object.fromEntries(told.map((name) => [name, 0])) as unknown as UsageSums

/** In the order of the columns. Each group has one text to be compared by: comparing columns took half of a report's time. */
function sorted(groups: readonly UsageGroup[], by: UsageQuery['by']): readonly UsageGroup[] {
  const keyed = groups.map((group) => ({ group, key: by.map((name) => group[name] ?? '').join('\0') }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return keyed.map(({ group }) => group)
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
