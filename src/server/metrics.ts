import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { SpeechCounts } from '../../speech/speech.ts'
import { type App, databaseState, instanceName } from '../app/app.ts'
import { type Histogram, type MetricDistribution, type MetricSource, secondBounds } from '../metrics/metrics.ts'
import { chatMetrics } from './chat-metrics.ts'
import { createHttpCounts, type HttpCounts, httpMetrics } from './http-metrics.ts'
import { storeMetrics } from './store-metrics.ts'
import { tokenMetrics } from './token-metrics.ts'

/** The metrics of one process: the same at each of its ports. */
export type Metrics = ReturnType<typeof createMetrics>

/** The values of all metrics of one process, by name. */
export type Snapshot = readonly SnapshotMetric[]

interface SnapshotMetric {
  readonly name: string
  readonly type: string
  readonly aggregator: string
  readonly [field: string]: unknown
}

/** The other processes of a service that serves with several. */
export interface OtherMetrics {
  /** The values of the running processes, and the counts of ended ones. */
  snapshots(): Promise<readonly Snapshot[]>
  readonly sources: readonly MetricSource[]
}

/**
 * The metrics of a service: answers, chats, speech, stored data, and the process (`process_*`, `nodejs_*`). Those of the
 * process begin with the first reader: watching the event loop wakes the process a hundred times a second, which nothing
 * needs to pay for where nothing reads them.
 */
export function createMetrics(app: App, version: string, others?: OtherMetrics) {
  const registry = new Registry()
  let hasReader = false
  const servers = new Map<string, HttpCounts>()
  const sources: readonly MetricSource[] = [
    {
      type: 'gauge',
      name: 'aichat_build_info',
      together: 'max',
      help: 'The version of aichat; always 1.',
      values: () => [{ labels: { version, node: process.version }, value: 1 }],
    },
    ...databaseMetrics(app),
    ...httpMetrics(servers),
    ...chatMetrics(app),
    ...tokenMetrics(app.tokens),
    ...speechMetrics(app.speechCounts),
    ...storeMetrics(app),
    ...(others?.sources ?? []),
  ]
  for (const source of sources) register(registry, source)
  const watchProcess = () => {
    if (!hasReader) collectDefaultMetrics({ register: registry })
    hasReader = true
  }
  /** The values of this process now, as plain data. */
  const snapshot = async () => {
    watchProcess()
    return (await registry.getMetricsAsJSON()).map(whole) as unknown as Snapshot
  }
  return {
    /** The counts of the server with this name: `api`, or a speech server. */
    http(server: string): HttpCounts {
      const known = servers.get(server) ?? createHttpCounts()
      servers.set(server, known)
      return known
    },
    snapshot,
    /** All metrics of the service in the text format of Prometheus. */
    async text(): Promise<{ readonly type: string; readonly body: string }> {
      watchProcess()
      const type = registry.contentType
      if (!others) return { type, body: await registry.metrics() }
      const all = await Promise.all([snapshot(), others.snapshots()])
      return { type, body: await aggregated([all[0], ...all[1]]).metrics() }
    },
  }
}

/** The sum of several processes. */
export async function sumOf(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  return (await aggregated(snapshots).getMetricsAsJSON()) as unknown as Snapshot
}

function aggregated(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots as unknown as object[])
}

/** The start of a service is that of its first process; prom-client would leave it out. */
function whole(metric: object): object {
  return 'aggregator' in metric && metric.aggregator === 'omit' ? { ...metric, aggregator: 'min' } : metric
}

/** Adds a metric that is read when scraped: labels of prom-client would cost each answer 3 µs. */
function register(registry: Registry, source: MetricSource): void {
  const { type, name, help, together: aggregator = 'sum' } = source
  const metric = {
    name,
    get: async () => ({ name, help, type, values: await rowsOf(source), aggregator }),
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

/** The database that instances share; nothing for the one of the data folder. */
function databaseMetrics(app: Pick<App, 'database' | 'ownPorts'>): readonly MetricSource[] {
  if (!app.database) return []
  return [
    {
      type: 'gauge',
      name: 'aichat_database_up',
      together: 'min',
      help: 'Whether the database that instances share answers this one.',
      values: () => {
        const { name, reachable } = databaseState(app)!
        return [{ labels: { database: name, instance_name: instanceName(app) }, value: reachable ? 1 : 0 }]
      },
    },
  ]
}

type SpeechCount = ReturnType<SpeechCounts['of']>

/** The speech that this process makes: on the ports of the speech servers, and for the API. */
function speechMetrics(counts: SpeechCounts): readonly MetricSource[] {
  return [
    number('gauge', 'aichat_speech_requests', 'Texts being spoken or waiting for it.', ({ inside }) => inside),
    number('gauge', 'aichat_speech_waiting', 'Chunks and voices that wait for the engine.', ({ waiting }) => waiting),
    number('counter', 'aichat_speech_refused_total', 'Requests refused for a full queue.', ({ refused }) => refused),
    {
      type: 'counter',
      name: 'aichat_speech_chunks_total',
      help: 'Chunks of texts by whether they were spoken or skipped.',
      values: () =>
        counts.list().flatMap(([server, { spoken, skipped }]) => [
          { labels: { server, outcome: 'spoken' }, value: spoken },
          { labels: { server, outcome: 'skipped' }, value: skipped },
        ]),
    },
    times('aichat_speech_queue_seconds', 'From the request of a chunk or voice to its turn.', ({ waits }) => waits),
    times('aichat_speech_chunk_seconds', 'The time of the engine for a chunk.', ({ chunks }) => chunks),
  ]

  function number(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    read: (count: SpeechCount) => number,
  ): MetricSource {
    return {
      type,
      name,
      help,
      values: () => counts.list().map(([server, count]) => ({ labels: { server }, value: read(count) })),
    }
  }

  function times(name: string, help: string, read: (count: SpeechCount) => Histogram): MetricSource {
    return {
      type: 'histogram',
      name,
      help,
      bounds: secondBounds,
      values: () => counts.list().map(([server, count]) => ({ labels: { server }, histogram: read(count) })),
    }
  }
}
