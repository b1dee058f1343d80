/** A metric that is read when scraped. */
export interface MetricSource {
  readonly type: 'counter' | 'histogram'
  readonly name: string
  readonly help: string
  values(): readonly MetricValue[]
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Where it differs from the metric's own name. */
  readonly metricName?: string
}
