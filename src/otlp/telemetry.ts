import { setTimeout as sleep } from 'node:timers/promises'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Send } from '../http/http.ts'
import type { TelemetrySettings } from '../settings/settings.ts'
import type { Tracer } from '../telemetry/telemetry.ts'
import { createExporter } from './exporter.ts'
import { createTracer } from './spans.ts'

/** Traces on their way to a collector. */
export interface Telemetry {
  readonly tracer: Tracer
  /** Sends the remaining data, within a time limit. */
  close(): Promise<void>
}

export interface TelemetryParts {
  readonly settings: TelemetrySettings
  readonly version: string
  readonly send: Send
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

/** Sends traces by OTLP over HTTP. A collector that hangs or refuses costs the chats nothing. */
export function openTelemetry({ settings, version, send, tell }: TelemetryParts): Telemetry {
  const ending = new AbortController()
  const processor = new BatchSpanProcessor({
    exporter: createExporter({ settings, send, signal: ending.signal, tell }),
    maxQueueSize: mostWaiting,
    maxExportBatchSize: mostInBatch,
    scheduledDelayMillis: settings.spanDelay,
    // The exporter keeps this time itself.
    exportTimeoutMillis: settings.timeout + closingMs,
  })
  const traces = new TracerProvider({
    resource: resourceFromAttributes({ 'service.version': version, ...settings.resource }),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: longestFact },
  })
  return {
    tracer: createTracer(traces.getTracer('aichat', version)),
    async close() {
      const timer = new AbortController()
      const closed = traces.shutdown().catch(() => {})
      await Promise.race([closed, sleep(closingMs, undefined, { signal: timer.signal }).catch(() => {})])
      timer.abort()
      ending.abort(new Error('the service ends'))
      await closed
    },
  }
}
