import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { App } from '../app/app.ts'
import type { MetricSource, MetricValue } from './metric-source.ts'
import type { RequestContext } from './request-context.ts'
import { tokenMetrics } from './token-metrics.ts'

export interface Metrics {
  /** Counts an answer under its route's pattern: addresses hold personal names. */
  observe(context: RequestContext, route: string, status: number): void
  /** All metrics in the text format of Prometheus. */
  text(): Promise<{ readonly type: string; readonly body: string }>
}

/** Upper bounds in seconds; a chat may take minutes. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300]

/** The counters of a route. */
interface RouteCounts {
  /** By method and status, such as `POST 200`. */
  readonly answers: Map<string, number>
  /** Answers by the first bucket that they fit in; the last element counts those that fit in none. */
  readonly times: number[]
  /** Seconds of all answers together. */
  sum: number
}

/** The metrics of a service: answers, their durations, attempts at providers, and the process. */
export function createMetrics(app: App): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'aichat_' })
  // Counted here and handed over when scraped: the labels of prom-client cost each answer 3 µs.
  const routes = new Map<string, RouteCounts>()
  register(registry, 'counter', 'aichat_http_requests_total', 'Answers by route and status.', () =>
    [...routes].flatMap(([route, { answers }]) =>
      [...answers].map(([key, value]) => {
        const [method = '', status = ''] = key.split(' ')
        return { labels: { method, route, status }, value }
      }),
    ),
  )
  register(
    registry,
    'histogram',
    'aichat_http_request_duration_seconds',
    'From the request to the end of its answer.',
    () => [...routes].flatMap(([route, counts]) => histogramOf(route, counts)),
  )
  register(
    registry,
    'counter',
    'aichat_chat_attempts_total',
    'Attempts of chats at plugins and the local runner.',
    () =>
      app.health.counts().map(({ target, outcome, failureClass, count }) => ({
        labels: { target, outcome, class: failureClass },
        value: count,
      })),
  )
  for (const { type, name, help, values } of tokenMetrics(app.tokens)) register(registry, type, name, help, values)
  return {
    observe({ request, startedAt }, route, status) {
      const pattern = route || 'unknown'
      const counts = routes.get(pattern) ?? { answers: new Map(), times: buckets.map(() => 0).concat(0), sum: 0 }
      routes.set(pattern, counts)
      const key = `${request.method} ${status}`
      counts.answers.set(key, (counts.answers.get(key) ?? 0) + 1)
      const seconds = (performance.now() - startedAt) / 1000
      const fit = buckets.findIndex((most) => seconds <= most)
      counts.times[fit < 0 ? buckets.length : fit]!++
      counts.sum += seconds
    },
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  }
}

/** Adds a metric that is read when scraped. The registry only needs a name and `get`. */
function register(
  registry: Registry,
  type: 'counter' | 'histogram',
  name: string,
  help: string,
  values: MetricSource['values'],
): void {
  const metric = { name, get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) }
  registry.registerMetric(metric as unknown as Metric)
}

/** A histogram of Prometheus: each bucket also counts all smaller ones. */
function histogramOf(route: string, { times, sum }: RouteCounts): readonly MetricValue[] {
  const name = 'aichat_http_request_duration_seconds'
  let count = 0
  const filled = [...buckets, '+Inf'].map((le, index) => {
    count += times[index]!
    return { labels: { le, route }, value: count, metricName: `${name}_bucket` }
  })
  return [
    ...filled,
    { labels: { route }, value: sum, metricName: `${name}_sum` },
    { labels: { route }, value: count, metricName: `${name}_count` },
  ]
}
