import { performance } from 'node:perf_hooks'
import { Histogram, type MetricSource, secondBounds } from '../metrics/metrics.ts'
import type { RequestContext } from './request-context.ts'

/** Counts the answers of one server, under their routes' patterns: addresses hold personal names. */
export type HttpCounts = ReturnType<typeof createHttpCounts>

interface RouteCounts {
  /** By method and status, such as `POST 200`. */
  readonly answers: Map<string, number>
  /** Seconds from a request to the end of its answer. */
  readonly times: Histogram
}

export function createHttpCounts() {
  const routes = new Map<string, RouteCounts>()
  let inFlight = 0
  return {
    routes,
    get inFlight(): number {
      return inFlight
    },
    /** A request has come. */
    begun: () => void inFlight++,
    /** Its answer has ended. */
    ended({ request, startedAt }: RequestContext, route: string, status: number) {
      inFlight--
      const pattern = route || 'unknown'
      let counts = routes.get(pattern)
      if (!counts) {
        counts = { answers: new Map(), times: new Histogram(secondBounds) }
        routes.set(pattern, counts)
      }
      const key = `${request.method} ${status}`
      counts.answers.set(key, (counts.answers.get(key) ?? 0) + 1)
      counts.times.add((performance.now() - startedAt) / 1000)
    },
  }
}

/** The metrics of all servers of a process, by their names. */
export function httpMetrics(servers: ReadonlyMap<string, HttpCounts>): readonly MetricSource[] {
  return [
    {
      type: 'counter',
      name: 'aichat_http_requests_total',
      help: 'Answers by server, route and status.',
      values: () =>
        [...servers].flatMap(([server, { routes }]) =>
          [...routes].flatMap(([route, { answers }]) =>
            [...answers].map(([key, value]) => {
              const [method = '', status = ''] = key.split(' ')
              return { labels: { method, route, server, status }, value }
            }),
          ),
        ),
    },
    {
      type: 'histogram',
      name: 'aichat_http_request_duration_seconds',
      help: 'From the request to the end of its answer.',
      bounds: secondBounds,
      values: () =>
        [...servers].flatMap(([server, { routes }]) =>
          [...routes].map(([route, { times }]) => ({ labels: { route, server }, histogram: times })),
        ),
    },
    {
      type: 'gauge',
      name: 'aichat_http_requests_in_flight',
      help: 'Requests under way.',
      values: () => [...servers].map(([server, { inFlight }]) => ({ labels: { server }, value: inFlight })),
    },
  ]
}
