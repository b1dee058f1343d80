/** Upper bounds in seconds of work that may take minutes, such as answers of models. */
export const secondBounds = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300] as const

/** The bounds that OpenTelemetry names for the durations of models: seconds. */
export const modelSecondBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
] as const

/** Counts values by the first bound that holds them. */
export class Histogram {
  readonly bounds: readonly number[]
  /** By bound; the last element counts the values beyond all. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  add(value: number): void {
    const { bounds } = this
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at++
    this.counts[at]!++
    this.sum += value
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}
