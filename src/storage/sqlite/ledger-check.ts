import type { LedgerProblems } from '../../usage/ledger/ledger.ts'
import { type DayGroup, differences, mostProblems } from '../shared/ledger-differences.ts'
import type { Database } from './connection.ts'
import { pauseFor } from './housekeeping.ts'
import type { LedgerNames } from './ledger-names.ts'

/**
 * Compares the rows of each day with its sums, day by day so that others are served between. One line per difference, a
 * hundred at the most. Days with removed rows have sums alone and are left out.
 */
export async function problemsIn(db: Database, names: LedgerNames): Promise<LedgerProblems> {
  const days = db
    .prepare<[], number>(
      `SELECT day FROM ledger_day WHERE day >= (SELECT day FROM ledger_begin)
       UNION SELECT day FROM ledger WHERE day >= (SELECT day FROM ledger_begin) ORDER BY 1`,
    )
    .pluck()
    .all()
  const rows = db.prepare<[number], DayGroup>(
    `SELECT user, ifnull(api_key, 0) AS api_key, ifnull(plugin, 0) AS plugin, model, sum(1) AS requests,
       sum(outcome = 1) AS failed, sum(input) AS input, sum(ifnull(cached, 0)) AS cached,
       sum(ifnull(cache_write, 0) + ifnull(cache_write_long, 0)) AS cache_write, sum(output) AS output,
       sum(ifnull(reasoning, 0)) AS reasoning, sum(ifnull(characters, 0)) AS characters, sum(ifnull(cost, 0)) AS cost,
       sum(cost IS NULL) AS unpriced, sum(estimated) AS estimated
     FROM ledger WHERE day = ? GROUP BY 1, 2, 3, 4`,
  )
  const sums = db.prepare<[number], DayGroup>(`SELECT * FROM ledger_day WHERE day = ?`)
  // Within one transaction: another process may add rows at any time.
  const read = db.transaction((day: number) => [rows.all(day), sums.all(day)] as const)
  const problems: string[] = []
  for (const day of days) {
    const begun = performance.now()
    const [own, kept] = read(day)
    problems.push(...differences(day, own, kept, names.nameOf))
    if (problems.length >= mostProblems) return problems.slice(0, mostProblems)
    await pauseFor(performance.now() - begun)
    if (!db.open) break
  }
  return problems
}
