import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { App } from '../app/app.ts'
import type { MetricDistribution, MetricSource } from '../telemetry/metric-source.ts'
import { chatMetrics } from './chat-metrics.ts'
import { databaseMetrics } from './database-metrics.ts'
import { createHttpCounts, type HttpCounts, httpMetrics } from './http-metrics.ts'
import { speechMetrics } from './speech-metrics.ts'
import { storeMetrics } from './store-metrics.ts'
import { tokenMetrics } from './token-metrics.ts'

/** The metrics of one process, whichever of its ports they are read at. */
export interface Metrics {
  /** The counts of the server with this name: `api`, or a speech server. */
  http(server: string): HttpCounts
  /** The metrics of aichat itself, without those of the process. */
  readonly sources: readonly MetricSource[]
  /** All metrics in the text format of Prometheus. */
  text(): Promise<{ readonly type: string; readonly body: string }>
}

/** The metrics of a service: answers, chats, speech, what is stored, and the process (`process_*`, `nodejs_*`). */
export function createMetrics(app: App, version: string): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const servers = new Map<string, HttpCounts>()
  const sources: readonly MetricSource[] = [
    {
      type: 'gauge',
      name: 'aichat_build_info',
      help: 'The version of aichat; always 1.',
      values: () => [{ labels: { version, node: process.version }, value: 1 }],
    },
    ...databaseMetrics(app),
    ...httpMetrics(servers),
    ...chatMetrics(app),
    ...tokenMetrics(app.tokens),
    ...speechMetrics(app.speechCounts),
    ...storeMetrics(app),
  ]
  for (const source of sources) register(registry, source)
  return {
    http(server) {
      const known = servers.get(server) ?? createHttpCounts()
      servers.set(server, known)
      return known
    },
    sources,
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

/**
 * Adds a metric that is read when scraped: the labels of prom-client would cost each answer 3 µs. The registry only needs a
 * name and `get`.
 */
function register(registry: Registry, source: MetricSource): void {
  const { type, name, help } = source
  const metric = {
    name,
    get: async () => ({ name, help, type, values: await rowsOf(source), aggregator: 'sum' }),
  }
  registry.registerMetric(metric as unknown as Metric)
}

async function rowsOf(source: MetricSource) {
  if (source.type !== 'histogram') return source.values()
  return source.values().flatMap((distribution) => histogramRows(source.name, source.bounds, distribution))
}

/** A histogram of Prometheus: each bucket also counts all smaller ones. */
function histogramRows(name: string, bounds: readonly number[], { labels, histogram }: MetricDistribution) {
  const { counts, sum } = histogram
  let count = 0
  const filled = [...bounds, '+Inf'].map((le, index) => {
    count += counts[index]!
    return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
  })
  return [
    ...filled,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}
