import { setTimeout as sleep } from 'node:timers/promises'
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Send } from '../http/http.ts'
import type { SamplerSettings, TelemetrySettings } from '../settings/settings.ts'
import type { MetricSource, Tracer } from '../telemetry/telemetry.ts'
import { createExporter } from './exporter.ts'
import { metricProducer } from './metrics.ts'
import { createTracer } from './spans.ts'

/** Traces and metrics on their way to a collector. */
export interface Telemetry {
  /** Undefined where no traces are sent. */
  readonly tracer: Tracer | undefined
  /** Sends the remaining data, within a time limit. */
  close(): Promise<void>
}

export interface TelemetryParts {
  readonly settings: TelemetrySettings
  readonly version: string
  readonly send: Send
  /** The metrics of the service. */
  readonly metrics: readonly MetricSource[]
  /** Called when a collector stops taking data, and when it takes data again. */
  readonly tell: (message: string, fields: Readonly<Record<string, string>>) => void
}

/** Spans that wait for the collector; while it takes none, further ones are dropped. */
const mostWaiting = 2_048
const mostInBatch = 512
/** Characters of a fact of a span, such as a model's name. */
const longestFact = 512
/** How long the last export may take: milliseconds. */
const closingMs = 5_000

/** Sends traces and metrics by OTLP over HTTP. A collector that hangs or refuses costs the chats nothing. */
export function openTelemetry({ settings, version, send, metrics, tell }: TelemetryParts): Telemetry {
  const ending = new AbortController()
  const { signal } = ending
  const isJson = settings.protocol === 'http/json'
  const resource = resourceFromAttributes({ 'service.version': version, ...settings.resource })
  const common = { settings, send, signal, tell }
  const traces = settings.traces === undefined ? undefined : tracesTo(settings.traces)
  const meters = settings.metrics === undefined ? undefined : metersTo(settings.metrics)
  return {
    tracer: traces && createTracer(traces.getTracer('aichat', version)),
    async close() {
      const timer = new AbortController()
      const closed = Promise.allSettled([traces?.shutdown(), meters?.shutdown()])
      await Promise.race([closed, sleep(closingMs, undefined, { signal: timer.signal }).catch(() => {})])
      timer.abort()
      ending.abort(new Error('the service ends'))
      await closed
    },
  }

  function tracesTo(url: string): TracerProvider {
    const serializer = isJson ? JsonTraceSerializer : ProtobufTraceSerializer
    const processor = new BatchSpanProcessor({
      exporter: createExporter({ ...common, what: 'Traces', url, serializer }),
      maxQueueSize: mostWaiting,
      maxExportBatchSize: mostInBatch,
      scheduledDelayMillis: settings.spanDelay,
      // The exporter keeps this time itself.
      exportTimeoutMillis: settings.timeout + closingMs,
    })
    return new TracerProvider({
      resource,
      sampler: samplerOf(settings.sampler),
      spanProcessors: [processor],
      spanLimits: { attributeValueLengthLimit: longestFact },
    })
  }

  function metersTo(url: string): MeterProvider {
    const serializer = isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer
    const reader = new PeriodicExportingMetricReader({
      exporter: createExporter({ ...common, what: 'Metrics', url, serializer }),
      exportIntervalMillis: settings.metricInterval,
      exportTimeoutMillis: Math.min(settings.metricInterval, settings.timeout + closingMs),
      metricProducers: [metricProducer(() => metrics, { name: 'aichat', version })],
    })
    return new MeterProvider({ resource, readers: [reader] })
  }
}

function samplerOf({ parentBased, ratio }: SamplerSettings): Sampler {
  const root =
    ratio === 1 ? new AlwaysOnSampler() : ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
  return parentBased ? new ParentBasedSampler({ root }) : root
}
