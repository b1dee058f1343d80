import { yieldToEventLoop } from '../../process/process.ts'
import {
  type LedgerRow,
  type MinuteSums,
  outcomes,
  type RowQuery,
  type UsageGroup,
  type UsageQuery,
  type UsageSums,
  usageSums,
} from '../../usage/usage.ts'
import { among, raw, row, rows, type Statement, type StoreDatabase, sql, word } from '../port/port.ts'
import { dayNumber, dayText, type LedgerRecord, rowOf } from '../shared/ledger-rows.ts'
import { columnsOfSums } from '../shared/ledger-sums.ts'
import type { LedgerNames } from './ledger-names.ts'

/** Rows that one statement looks through: some milliseconds, however few of them match. */
const slice = 500

/** Rows of days that one statement sums up, or those of one day: some milliseconds. */
const daysSlice = 10_000

/** The condition that the names, times and outcomes of a query make; undefined where no row has one of them. */
async function conditionOf(query: RowQuery, names: LedgerNames): Promise<Statement | undefined> {
  const wanted = namesAsked(query)
  const idOf = await names.find(wanted.map(([, name]) => name))
  if (wanted.some(([, name]) => idOf(name) === undefined)) return undefined
  const { from, to } = query
  const named = wanted.reduce((all, [column, name]) => sql`${all} AND ${raw(`"${column}"`)} = ${idOf(name)}`, sql`true`)
  const since = from === undefined ? named : sql`${named} AND at >= ${from}`
  const within = to === undefined ? since : sql`${since} AND at <= ${to}`
  const asked = query.request === undefined ? within : sql`${within} AND request = ${query.request}`
  return query.outcomes ? sql`${asked} AND ${isOneOf(query.outcomes)}` : asked
}

/** Sums by the columns of the query, in their order; at most `query.most` groups, where that is set. */
export async function sumUp(db: StoreDatabase, query: UsageQuery, names: LedgerNames): Promise<readonly UsageGroup[]> {
  const matches = await conditionOf(query, names)
  if (!matches) return nothingFound(query)
  const by = query.by.map((name) => columns[name])
  const columnsOfGroups = by.map((column) => `"${column}"`)
  const sums = columnsOfSums.map((name) => `coalesce(sum(${name}), 0) AS ${name}`)
  const groups = new Map<string | number, Record<string, number>>()
  const { most = Number.MAX_SAFE_INTEGER } = query
  const last = dayNumber(query.until)
  for (let first = dayNumber(query.since); first <= last && groups.size < most; ) {
    const beyond = await db.read(
      row<{ day: number }>(
        sql`SELECT day FROM ledger_day WHERE day BETWEEN ${first} AND ${last} ORDER BY day LIMIT 1 OFFSET ${daysSlice}`,
      ),
    )
    const end = beyond ? Math.max(first, beyond.day - 1) : last
    const found = await db.read(
      rows<Record<string, number>>(
        sql`SELECT ${raw([...columnsOfGroups, ...sums].join(', '))} FROM ledger_day
            WHERE day BETWEEN ${first} AND ${end} AND ${matches}
            ${raw(by.length > 0 ? `GROUP BY ${columnsOfGroups.join(', ')}` : '')} LIMIT ${most}`,
      ),
    )
    for (const group of found) {
      // With the day among the columns, no two slices have the same group.
      const key = by.includes('day') ? groups.size : by.map((column) => group[column]).join()
      const known = groups.get(key)
      if (known) for (const name of columnsOfSums) known[name]! += group[name]!
      else groups.set(key, group)
    }
    if (beyond) await yieldToEventLoop()
    first = end + 1
  }
  const found = [...groups.values()].slice(0, most)
  const named = by.filter((column) => column !== 'day')
  const nameOf = await names.namesOf(
    found.flatMap((group) => named.map((column) => group[column]!)).filter((id) => id > 0),
  )
  return groupsOf(query, found, nameOf)
}

function isOneOf(wanted: readonly LedgerRow['outcome'][]): Statement {
  return sql`outcome ${among(wanted.map((name) => outcomes.indexOf(name)))}`
}

/** Sums by minute, in their order. */
export async function minutesOf(
  db: StoreDatabase,
  query: RowQuery,
  names: LedgerNames,
): Promise<readonly MinuteSums[]> {
  const matches = await conditionOf(query, names)
  if (!matches) return []
  return db.read(
    rows<MinuteSums>(
      sql`SELECT at / 60000 * 60000 AS at, count(*) AS requests, count(CASE WHEN ${isOneOf(['failed', 'broken'])} THEN 1 END) AS failed,
            coalesce(sum(cost), 0) AS cost_nano, avg(first_ms) AS first_ms
          FROM ledger WHERE day BETWEEN ${dayNumber(query.since)} AND ${dayNumber(query.until)} AND ${matches}
          GROUP BY 1 ORDER BY 1`,
    ),
  )
}

type StoredRecord = LedgerRecord & { readonly id: number; readonly fits: boolean | 0 | 1 }

/** The order of rows of the same time, and a row with it. */
const id = word('rowid', 'id')
const withId = word('rowid AS id, *', '*')

/**
 * The rows of a query by day and time, the oldest or the newest first. Each read looks through the next hundreds of the time, and comes back with those that
 * match, and with the last one in any case: the next read continues after it.
 */
export async function* readRows(
  db: StoreDatabase,
  query: RowQuery,
  names: LedgerNames,
): AsyncGenerator<readonly LedgerRow[]> {
  const matches = await conditionOf(query, names)
  if (!matches) return
  const [first, last] = [dayNumber(query.since), dayNumber(query.until)]
  const { isNewestFirst } = query
  let after = isNewestFirst
    ? { day: last, at: Number.MAX_SAFE_INTEGER, id: 0 }
    : { day: first, at: Number.MIN_SAFE_INTEGER, id: 0 }
  const order = raw(isNewestFirst ? ' DESC' : '')
  for (;;) {
    const next = sql`SELECT ${withId} FROM ledger
      WHERE day BETWEEN ${first} AND ${last}
        AND (day, at, ${id}) ${raw(isNewestFirst ? '<' : '>')} (${after.day}, ${after.at}, ${after.id})
      ORDER BY day${order}, at${order}, ${id}${order} LIMIT ${slice}`
    const found = await db.read(
      rows<StoredRecord>(
        sql`WITH part AS (
              SELECT *, row_number() OVER (ORDER BY day${order}, at${order}, id${order}) AS place, (${matches}) AS fits FROM (${next}) AS next)
            SELECT * FROM part WHERE fits OR place = (SELECT count(*) FROM part) ORDER BY place`,
      ),
    )
    const end = found.at(-1)
    if (!end) return
    const matching = end.fits ? found : found.slice(0, -1)
    if (matching.length > 0) {
      const nameOf = await names.namesOf(matching.flatMap(namesIn))
      yield matching.map((record) => rowOf(record, nameOf))
    }
    // An export to a fast client would otherwise hold the event loop to its last row.
    await yieldToEventLoop()
    after = end
  }
}

function namesIn({
  user,
  api_key,
  plugin,
  model,
  service_tier,
  speed,
  price,
  reason,
}: LedgerRecord): readonly number[] {
  return [user, api_key, plugin, model, service_tier, speed, price, reason].filter((name) => name !== null)
}

/** The column of each part of a query. */
const columns = { day: 'day', model: 'model', key: 'api_key', user: 'user', plugin: 'plugin' } as const

/** The columns of names, which the tables hold as numbers. */
type NameColumn = Exclude<(typeof columns)[keyof typeof columns], 'day'>

/** The columns of a query that must match, with the names that are asked for. */
function namesAsked(query: RowQuery): readonly (readonly [column: NameColumn, name: string])[] {
  return (['user', 'key', 'model', 'plugin'] as const).flatMap((column) => {
    const name = query[column]
    return name === undefined ? [] : [[columns[column], name] as const]
  })
}

const noSums = Object.fromEntries(usageSums.map((name) => [name, 0])) as unknown as UsageSums

/** The answer to a query that asks for a name which no row has. */
function nothingFound({ by }: UsageQuery): readonly UsageGroup[] {
  return by.length > 0 ? [] : [noSums]
}

/** The groups of an answer, in the order of the columns, from rows of the table's columns. */
function groupsOf(
  { by }: UsageQuery,
  found: readonly Readonly<Record<string, number>>[],
  nameOf: (id: number) => string,
): readonly UsageGroup[] {
  const named = (column: string, value: number) =>
    column === 'day' ? dayText(value) : value === 0 ? null : nameOf(value)
  const result = found.map((row) => {
    const group: Record<string, string | number | null> = {}
    for (const name of by) group[name] = named(name, row[columns[name]]!)
    for (const [at, name] of usageSums.entries()) group[name] = row[columnsOfSums[at]!]!
    return group as unknown as UsageGroup
  })
  return sorted(result, by)
}

/** In the order of the columns. Each group has one text to be compared by: comparing columns took half of a report's time. */
function sorted(groups: readonly UsageGroup[], by: UsageQuery['by']): readonly UsageGroup[] {
  const keyed = groups.map((group) => ({ group, key: by.map((name) => group[name] ?? '').join('\0') }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return keyed.map(({ group }) => group)
}
