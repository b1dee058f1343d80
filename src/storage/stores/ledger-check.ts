import { pauseFor } from '../../process/event-loop-turns.ts'
import type { LedgerProblems } from '../../usage/ledger/ledger.ts'
import { rows, type StoreDatabase, sql, together } from '../port/port.ts'
import { type DayGroup, differences, mostProblems } from '../shared/ledger-differences.ts'
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
