import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from '../app.ts'
import type { Exchange } from './exchange.ts'

export interface Metrics {
  /** Counts an answer under its route's pattern, never under its address: names in addresses are people's. */
  observe(exchange: Exchange, route: string, status: number): void
  /** Everything in Prometheus' text format. */
  text(): Promise<{ readonly type: string; readonly body: string }>
}

/** Seconds; a chat may take minutes. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300]

/** What a service tells a Prometheus: answers, their times, the providers' failures, and the process itself. */
export function createMetrics(app: App): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'aichat_' })
  const registers = [registry]
  const requests = new Gauge({
    name: 'aichat_http_requests_total',
    help: 'Answers by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'aichat_http_request_duration_seconds',
    help: 'From the request to the end of its answer.',
    labelNames: ['route'],
    buckets,
    registers,
  })
  const attempts = new Gauge({
    name: 'aichat_chat_attempts_total',
    help: 'What plugins and the local runner made of chats.',
    labelNames: ['target', 'outcome', 'class'],
    registers,
  })
  // Counted in a plain map and handed over when somebody looks: labels cost more than the sum.
  const counts = new Map<string, number>()
  return {
    observe({ request, startedAt }, route, status) {
      const pattern = route || 'unknown'
      const key = `${request.method} ${pattern} ${status}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      durations.observe({ route: pattern }, (performance.now() - startedAt) / 1000)
    },
    async text() {
      for (const [key, count] of counts) {
        const [method = '', route = '', status = ''] = key.split(' ')
        requests.set({ method, route, status }, count)
      }
      for (const { target, outcome, failureClass, count } of app.health.counts())
        attempts.set({ target, outcome, class: failureClass }, count)
      return { type: registry.contentType, body: await registry.metrics() }
    },
  }
}
