import type { Histogram } from './histogram.ts'

/** Names and values that tell the rows of a metric apart. Each comes from a bounded set: every row costs memory for good. */
export type Labels = Readonly<Record<string, string>>

export interface MetricValue {
  readonly labels: Labels
  readonly value: number
}

/** A distribution; its bounds are those of its metric. */
export interface MetricDistribution {
  readonly labels: Labels
  readonly histogram: Pick<Histogram, 'counts' | 'sum'>
}

interface Described {
  /** As Prometheus writes it. */
  readonly name: string
  readonly help: string
  /** How the values of several processes of a service become one; default `sum`. */
  readonly together?: 'sum' | 'max' | 'min'
}

export interface NumberSource extends Described {
  readonly type: 'counter' | 'gauge'
  values(): readonly MetricValue[] | Promise<readonly MetricValue[]>
}

export interface HistogramSource extends Described {
  readonly type: 'histogram'
  readonly bounds: readonly number[]
  values(): readonly MetricDistribution[]
}

/** A metric that is read when it is collected: the work that it counts makes no objects for it. */
export type MetricSource = NumberSource | HistogramSource
