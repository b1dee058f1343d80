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
