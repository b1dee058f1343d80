import { dayText } from './ledger-rows.ts'
import { columnsOfSums, type Sums } from './ledger-sums.ts'

const places = ['user', 'api_key', 'plugin', 'model'] as const

/** The sums of one day, user, key, plugin and model, as they are kept, or as the rows have them. */
export type DayGroup = Sums & Readonly<Record<(typeof places)[number], number>>

/** The most lines of an answer. */
export const mostProblems = 100

/** A line for each difference between the rows of a day and its sums. */
export function differences(
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
