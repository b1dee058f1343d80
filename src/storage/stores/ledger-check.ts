import { pauseFor } from '../../process/process.ts'
import type { LedgerProblems } from '../../usage/usage.ts'
import { rows, type StoreDatabase, sql, together } from '../port/port.ts'
import { dayText } from '../shared/ledger-rows.ts'
import { columnsOfSums, type Sums } from '../shared/ledger-sums.ts'
import type { LedgerNames } from './ledger-names.ts'

/**
 * Compares the rows of each day with its sums, day by day so that others are served between. One line per difference, a
 * hundred at the most. Days with removed rows have sums alone and are left out.
 */
export async function problemsIn(db: StoreDatabase, names: LedgerNames): Promise<LedgerProblems> {
  const days = await db.read(
    rows<{ day: number }>(
      sql`SELECT day FROM ledger_day WHERE day >= (SELECT day FROM ledger_begin)
          UNION SELECT day FROM ledger WHERE day >= (SELECT day FROM ledger_begin) ORDER BY 1`,
    ),
  )
  const problems: string[] = []
  for (const { day } of days) {
    const begun = performance.now()
    // At one moment: another process may add rows at any time.
    const [own, kept] = await db.moment(() => together(sumsOf(day), rows<DayGroup>(keptOf(day))))
    const ids = [...own, ...kept].flatMap(({ user, api_key, plugin, model }) => [user, api_key, plugin, model])
    problems.push(...differences(day, own, kept, await names.namesOf(ids)))
    if (problems.length >= mostProblems) return problems.slice(0, mostProblems)
    await pauseFor(performance.now() - begun)
    if (!db.goesOn()) break
  }
  return problems
}

function keptOf(day: number) {
  return sql`SELECT * FROM ledger_day WHERE day = ${day}`
}

function sumsOf(day: number) {
  return rows<DayGroup>(
    sql`SELECT "user", coalesce(api_key, 0) AS api_key, coalesce(plugin, 0) AS plugin, model, count(*) AS requests,
          count(*) FILTER (WHERE outcome = 1) AS failed, sum(input) AS input, sum(coalesce(cached, 0)) AS cached,
          sum(coalesce(cache_write, 0) + coalesce(cache_write_long, 0)) AS cache_write, sum(output) AS output,
          sum(coalesce(reasoning, 0)) AS reasoning, sum(coalesce(characters, 0)) AS characters,
          sum(coalesce(cost, 0)) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced, sum(estimated) AS estimated
        FROM ledger WHERE day = ${day} GROUP BY 1, 2, 3, 4`,
  )
}

const places = ['user', 'api_key', 'plugin', 'model'] as const

/** The sums of one day, user, key, plugin and model, as they are kept, or as the rows have them. */
type DayGroup = Sums & Readonly<Record<(typeof places)[number], number>>

const mostProblems = 100

/** A line for each difference between the rows of a day and its sums. */
function differences(
  day: number,
  own: readonly DayGroup[],
  kept: readonly DayGroup[],
  nameOf: (id: number) => string,
): string[] {
  const rows = byPlace(own)
  const sums = byPlace(kept)
  return [...new Set([...rows.keys(), ...sums.keys()])].flatMap((place) => {
    const [left, right] = [rows.get(place), sums.get(place)]
    const wrong = columnsOfSums.filter((name) => (left?.[name] ?? 0) !== (right?.[name] ?? 0))
    const { user, api_key: key, plugin, model } = (left ?? right)!
    const where = [user, key, plugin, model].filter((id) => id > 0).map(nameOf)
    return wrong.map(
      (name) =>
        `${dayText(day)}, ${where.join(', ')}: ${name} is ${left?.[name] ?? 0} in the ledger and ${right?.[name] ?? 0} in its sums`,
    )
  })
}

function byPlace(groups: readonly DayGroup[]): Map<string, DayGroup> {
  return new Map(groups.map((group) => [places.map((name) => group[name]).join(), group]))
}
