import type { LedgerRow, LedgerStore, RowQuery, UsageGroup, UsageQuery, UsageSums } from '../../usage/ledger/ledger.ts'
import { withoutWaiting } from './busy.ts'
import type { Database } from './connection.ts'
import { goesOn, pauseFor } from './housekeeping.ts'
import { createLedgerNames, type LedgerNames } from './ledger-names.ts'
import { dayNumber, dayText, type LedgerRecord, rowOf, valuesOf } from './ledger-rows.ts'
import { columnsOfSums, type Sums, sumsByDay } from './ledger-sums.ts'
import { budgetProblems, settlementOf } from './limits-settle.ts'

/** Rows read, or removed, at once: some milliseconds. */
const slice = 1000

/** The ledger in SQLite. */
export function createLedgerStore(db: Database): LedgerStore {
  const names = createLedgerNames(db)
  const insert = db.prepare(`INSERT INTO ledger VALUES (${Array.from({ length: 27 }, () => '?').join(', ')})
     ON CONFLICT (request, attempt) DO NOTHING`)
  const add = db.prepare(
    `INSERT INTO ledger_day VALUES (${Array.from({ length: 5 + columnsOfSums.length }, () => '?').join(', ')})
     ON CONFLICT DO UPDATE SET ${columnsOfSums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  )
  const settlement = settlementOf(db)
  const append = db.transaction((rows: readonly LedgerRow[]) => {
    const added = rows.filter((row) => !settlement.isBooked(row) && insert.run(valuesOf(row, names.idOf)).changes > 0)
    for (const { place, sums } of sumsByDay(added, names.idOf)) add.run(...place, ...sums)
    settlement.settle(added)
    return added.length
  })
  const remove = db.prepare<[number]>(
    `DELETE FROM ledger WHERE rowid IN (SELECT rowid FROM ledger WHERE day < ? ORDER BY at LIMIT ${slice})`,
  )
  const begin = db.prepare<[number]>('UPDATE ledger_begin SET day = max(day, ?)')

  return {
    append: async (rows) => {
      if (rows.length === 0) return 0
      try {
        return withoutWaiting(db, () => append.immediate(rows))
      } catch (reason) {
        // Names of a transaction that was rolled back have no number.
        names.forget()
        throw reason
      }
    },
    sums: async (query) => summedUp(db, query),
    rows: async (query) => readRows(db, query, names),
    check: async () => [...problemsIn(db), ...budgetProblems(db)],
    async prune(before) {
      const day = dayNumber(before)
      begin.run(day)
      let removed = 0
      for (let changes = slice; changes === slice && goesOn(db); ) {
        const begun = performance.now()
        changes = remove.run(day).changes
        removed += changes
        if (changes === slice) await pauseFor(performance.now() - begun)
      }
      return removed
    },
  }
}

const columns = { day: 'd.day', model: 'd.model', key: 'd.api_key', user: 'd.user', plugin: 'd.plugin' } as const

/** The conditions of a query on a table, and their values. */
function conditions(query: RowQuery, table: string): { readonly where: string; readonly values: readonly unknown[] } {
  const named = (['user', 'key', 'model', 'plugin'] as const).filter((name) => query[name] !== undefined)
  const tests = named.map((name) => {
    const column = name === 'key' ? 'api_key' : name
    return `${table}.${column} = (SELECT id FROM ledger_name WHERE name = ?)`
  })
  return {
    where: [`${table}.day BETWEEN ? AND ?`, ...tests].join(' AND '),
    values: [dayNumber(query.since), dayNumber(query.until), ...named.map((name) => query[name])],
  }
}

function summedUp(db: Database, query: UsageQuery): readonly UsageGroup[] {
  const { where, values } = conditions(query, 'd')
  const by = query.by.map((name) => columns[name])
  const groups = by.length > 0 ? `GROUP BY ${by.join(', ')}` : ''
  const found = db
    .prepare<unknown[], Sums & Record<string, number>>(
      `SELECT ${[...query.by.map((name) => `${columns[name]} AS "by ${name}"`), ...columnsOfSums.map((name) => `ifnull(sum(d.${name}), 0) AS ${name}`)].join(', ')}
       FROM ledger_day d WHERE ${where} ${groups}`,
    )
    .all(...values)
  const texts = db.prepare<[number], string>('SELECT name FROM ledger_name WHERE id = ?').pluck()
  const named = (name: string, value: number) =>
    name === 'day' ? dayText(value) : value === 0 ? null : (texts.get(value) ?? null)
  const result = found.map((row) => ({
    ...Object.fromEntries(query.by.map((name) => [name, named(name, row[`by ${name}`]!)])),
    ...sumsOf(row),
  }))
  return result.sort((a, b) => compared(a, b, query.by))
}

function compared(a: UsageGroup, b: UsageGroup, by: UsageQuery['by']): number {
  for (const name of by) {
    const [left, right] = [a[name] ?? '', b[name] ?? '']
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

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

const dayMs = 86_400_000

async function* readRows(db: Database, query: RowQuery, names: LedgerNames): AsyncGenerator<readonly LedgerRow[]> {
  const { where, values } = conditions(query, 'ledger')
  // No zone is further than a day from UTC: the index on the time bounds what is read.
  const read = db.prepare<unknown[], LedgerRecord & { readonly rowid: number }>(
    `SELECT rowid, * FROM ledger WHERE ${where} AND at BETWEEN ? AND ? AND (at, rowid) > (?, ?)
     ORDER BY at, rowid LIMIT ${slice}`,
  )
  const [first, last] = [Date.parse(query.since) - dayMs, Date.parse(query.until) + 2 * dayMs]
  let after: readonly [number, number] = [first, 0]
  for (;;) {
    const found = read.all(...values, after[0], last, ...after)
    if (found.length === 0) return
    yield found.map((record) => rowOf(record, names.nameOf))
    const { at, rowid } = found.at(-1)!
    after = [at, rowid]
  }
}

/** Days whose rows and sums differ, one line each. */
function problemsIn(db: Database): readonly string[] {
  const summed = `sum(1) AS requests, sum(outcome = 1) AS failed, sum(input) AS input, sum(ifnull(cached, 0)) AS cached,
    sum(ifnull(cache_write, 0) + ifnull(cache_write_long, 0)) AS cache_write, sum(output) AS output,
    sum(ifnull(reasoning, 0)) AS reasoning, sum(ifnull(characters, 0)) AS characters, sum(ifnull(cost, 0)) AS cost,
    sum(cost IS NULL) AS unpriced, sum(estimated) AS estimated`
  const own = db
    .prepare<[], Sums & { day: number }>(
      `SELECT day, ${summed} FROM ledger WHERE day >= (SELECT day FROM ledger_begin) GROUP BY day`,
    )
    .all()
  const kept = db
    .prepare<[], Sums & { day: number }>(
      `SELECT day, ${columnsOfSums.map((name) => `sum(${name}) AS ${name}`).join(', ')}
       FROM ledger_day WHERE day >= (SELECT day FROM ledger_begin) GROUP BY day`,
    )
    .all()
  const byDay = new Map(kept.map((row) => [row.day, row]))
  const rows = new Map(own.map((row) => [row.day, row]))
  return [...new Set([...byDay.keys(), ...rows.keys()])].sort().flatMap((day) => {
    const [left, right] = [rows.get(day), byDay.get(day)]
    const wrong = columnsOfSums.filter((name) => (left?.[name] ?? 0) !== (right?.[name] ?? 0))
    return wrong.map(
      (name) => `${dayText(day)}: ${name} is ${left?.[name] ?? 0} in the ledger and ${right?.[name] ?? 0} in its sums`,
    )
  })
}
