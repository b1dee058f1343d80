/**
 * Spans and trace contexts as the areas know them, without a library.
 * Uses: nothing.
 * Begin with: `span.ts`, `metric-source.ts`.
 */
export { Histogram, modelSecondBounds, secondBounds } from './histogram.ts'
export type { MetricDistribution, MetricSource, MetricValue } from './metric-source.ts'
export {
  type RequestSpan,
  type Span,
  type SpanAttributes,
  type SpanKind,
  searchFacts,
  type Tracer,
  within,
} from './span.ts'
