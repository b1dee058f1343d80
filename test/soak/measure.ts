import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds at which the buckets of a histogram end: each a tenth above the one before. */
const edges: readonly number[] = Array.from({ length: 140 }, (_, index) => 0.1 * 1.1 ** index)

/** Latencies and outcomes by route; flat in memory over any time. */
export interface Measures {
  note(route: string, outcome: string, ms: number): void
  /** Milliseconds below which this share of a route's requests lie. */
  quantile(route: string, share: number): number
  /** Requests by route and outcome. */
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>
}

export function createMeasures(): Measures {
  const outcomes = new Map<string, Map<string, number>>()
  const buckets = new Map<string, Uint32Array>()
  return {
    outcomes,
    note(route, outcome, ms) {
      const counts = outcomes.get(route) ?? new Map<string, number>()
      outcomes.set(route, counts.set(outcome, (counts.get(outcome) ?? 0) + 1))
      const row = buckets.get(route) ?? new Uint32Array(edges.length + 1)
      buckets.set(route, row)
      const at = edges.findIndex((edge) => ms <= edge)
      row[at < 0 ? edges.length : at]!++
    },
    quantile(route, share) {
      const row = buckets.get(route) ?? new Uint32Array(1)
      const wanted = share * row.reduce((sum, count) => sum + count, 0)
      let seen = 0
      for (const [index, count] of row.entries()) {
        seen += count
        if (seen >= wanted) return edges[index] ?? Number.POSITIVE_INFINITY
      }
      return 0
    },
  }
}

/** A process at one moment, by Linux's /proc. */
export interface Sample {
  readonly minutes: number
  readonly mebibytes: number
  readonly files: number
  readonly threads: number
}

export function sampleOf(pid: number, minutes: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    minutes,
    mebibytes: field('VmRSS') / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    threads: field('Threads'),
  }
}

/** The growth of a value over time, by the least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  const under = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return under === 0 ? 0 : over / under
}
