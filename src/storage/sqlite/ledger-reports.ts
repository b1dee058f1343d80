import type { LedgerRow, RowQuery, UsageGroup, UsageQuery, UsageSums } from '../../usage/ledger/ledger.ts'
import type { Database } from './connection.ts'
import type { LedgerNames } from './ledger-names.ts'
import { dayNumber, dayText, type LedgerRecord, rowOf } from './ledger-rows.ts'
import { columnsOfSums, type Sums } from './ledger-sums.ts'

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
  if (!matches) return query.by.length > 0 ? [] : [sumsOf(noSums)]
  const by = query.by.map((name) => columns[name])
  const tests = ['day BETWEEN ? AND ?', ...matches.map(([column]) => `${column} = ?`)]
  const found = db
    .prepare<unknown[], Sums & Record<string, number>>(
      `SELECT ${[...by.map((name) => `${name} AS "by ${name}"`), ...columnsOfSums.map((name) => `ifnull(sum(${name}), 0) AS ${name}`)].join(', ')}
       FROM ledger_day WHERE ${tests.join(' AND ')} ${by.length > 0 ? `GROUP BY ${by.join(', ')}` : ''} LIMIT ?`,
    )
    .all(dayNumber(query.since), dayNumber(query.until), ...matches.map(([, id]) => id), query.most ?? -1)
  const named = (name: string, value: number) =>
    name === 'day' ? dayText(value) : value === 0 ? null : names.nameOf(value)
  const result = found.map((row) => {
    const group: Record<string, string | number | null> = {}
    for (const name of query.by) group[name] = named(name, row[`by ${columns[name]}`]!)
    return Object.assign(group, sumsOf(row)) as UsageGroup
  })
  return result.sort((a, b) => compared(a, b, query.by))
}

function compared(a: UsageGroup, b: UsageGroup, by: UsageQuery['by']): number {
  for (const name of by) {
    const [left, right] = [a[name] ?? '', b[name] ?? '']
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

const noSums = Object.fromEntries(columnsOfSums.map((name) => [name, 0])) as Sums

function sumsOf(row: Sums): UsageSums {
  return {
    requests: row.requests,
    failed: row.failed,
    input_tokens: row.input,
    cached_tokens: row.cached,
    cache_write_tokens: row.cache_write,
    output_tokens: row.output,
    reasoning_tokens: row.reasoning,
    characters: row.characters,
    cost_nano: row.cost,
    unpriced: row.unpriced,
    estimated: row.estimated,
  }
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
