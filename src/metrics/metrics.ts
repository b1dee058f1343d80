/**
 * Metrics as the areas count them, without a library.
 * Uses: nothing.
 * Begin with: `metric-source.ts`, `histogram.ts`.
 */
export { Histogram, modelSecondBounds, secondBounds } from './histogram.ts'
export type { MetricDistribution, MetricSource, MetricValue } from './metric-source.ts'
