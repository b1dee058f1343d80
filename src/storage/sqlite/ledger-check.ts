import type { LedgerProblems } from '../../usage/ledger/ledger.ts'
import type { Database } from './connection.ts'
import { pauseFor } from './housekeeping.ts'
import type { LedgerNames } from './ledger-names.ts'
import { dayText } from './ledger-rows.ts'
import { columnsOfSums, type Sums } from './ledger-sums.ts'

const places = ['user', 'api_key', 'plugin', 'model'] as const

type Group = Sums & Readonly<Record<(typeof places)[number], number>>

/** The most lines of an answer. */
const mostProblems = 100

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
  const rows = db.prepare<[number], Group>(
    `SELECT user, ifnull(api_key, 0) AS api_key, ifnull(plugin, 0) AS plugin, model, sum(1) AS requests,
       sum(outcome = 1) AS failed, sum(input) AS input, sum(ifnull(cached, 0)) AS cached,
       sum(ifnull(cache_write, 0) + ifnull(cache_write_long, 0)) AS cache_write, sum(output) AS output,
       sum(ifnull(reasoning, 0)) AS reasoning, sum(ifnull(characters, 0)) AS characters, sum(ifnull(cost, 0)) AS cost,
       sum(cost IS NULL) AS unpriced, sum(estimated) AS estimated
     FROM ledger WHERE day = ? GROUP BY 1, 2, 3, 4`,
  )
  const sums = db.prepare<[number], Group>(`SELECT * FROM ledger_day WHERE day = ?`)
  // Within one transaction: another process may add rows at any time.
  const read = db.transaction((day: number) => [rows.all(day), sums.all(day)] as const)
  const problems: string[] = []
  for (const day of days) {
    const begun = performance.now()
    const [own, kept] = read(day)
    problems.push(...differences(day, own, kept, names))
    if (problems.length >= mostProblems) return problems.slice(0, mostProblems)
    await pauseFor(performance.now() - begun)
    if (!db.open) break
  }
  return problems
}

function differences(day: number, own: readonly Group[], kept: readonly Group[], names: LedgerNames): string[] {
  const rows = byPlace(own)
  const sums = byPlace(kept)
  return [...new Set([...rows.keys(), ...sums.keys()])].flatMap((place) => {
    const [left, right] = [rows.get(place), sums.get(place)]
    const wrong = columnsOfSums.filter((name) => (left?.[name] ?? 0) !== (right?.[name] ?? 0))
    const { user, api_key: key, plugin, model } = (left ?? right)!
    const where = [user, key, plugin, model].filter((id) => id > 0).map(names.nameOf)
    return wrong.map(
      (name) =>
        `${dayText(day)}, ${where.join(', ')}: ${name} is ${left?.[name] ?? 0} in the ledger and ${right?.[name] ?? 0} in its sums`,
    )
  })
}

function byPlace(groups: readonly Group[]): Map<string, Group> {
  return new Map(groups.map((group) => [places.map((name) => group[name]).join(), group]))
}
