import type { Usage } from '../../wire/types.ts'

export interface DayOfUsage {
  readonly day: string
  /** US dollars. */
  readonly cost: number
  readonly input: number
  readonly output: number
}

/** Every day of a report, also those without a request: a plot must not draw a line over them. */
export function everyDay({ rows, since, until }: Usage): readonly DayOfUsage[] {
  const known = new Map(rows.map((row) => [row.day, row]))
  const days: DayOfUsage[] = []
  for (let time = Date.parse(since); time <= Date.parse(until); time += 86_400_000) {
    const day = new Date(time).toISOString().slice(0, 10)
    const row = known.get(day)
    days.push({
      day,
      cost: Number(row?.cost_usd ?? 0),
      input: row?.input_tokens ?? 0,
      output: row?.output_tokens ?? 0,
    })
  }
  return days
}

/** Days above which a plot has weeks, and those above which it has months. */
const mostDays = 60
const mostWeekDays = 200

/** The bars of a plot: days, weeks that begin on Monday, or months, named by their first day. */
export function barsOf(days: readonly DayOfUsage[]): { readonly step: string; readonly bars: readonly DayOfUsage[] } {
  if (days.length <= mostDays) return { step: 'Day', bars: days }
  const isByMonth = days.length > mostWeekDays
  const bars = new Map<string, DayOfUsage>()
  for (const { day: name, cost, input, output } of days) {
    const date = new Date(name)
    date.setUTCDate(isByMonth ? 1 : date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
    const day = date.toISOString().slice(0, 10)
    const before = bars.get(day) ?? { cost: 0, input: 0, output: 0 }
    bars.set(day, { day, cost: before.cost + cost, input: before.input + input, output: before.output + output })
  }
  return { step: isByMonth ? 'Month from' : 'Week from', bars: [...bars.values()] }
}
