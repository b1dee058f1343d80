import { setTimeout as sleep } from 'node:timers/promises'
import { ExportResultCode } from '@opentelemetry/core'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Send } from '../http/http.ts'
import type { TelemetrySettings } from '../settings/settings.ts'

export interface ExporterParts {
  readonly settings: Pick<TelemetrySettings, 'traces' | 'headers' | 'timeout'>
  readonly send: Send
  /** Aborted when the service ends and waits no longer. */
  readonly signal: AbortSignal
  /** Called with the first failure, and about the first success after one. */
  readonly tell: (message: string, fields: Readonly<Record<string, string>>) => void
}

/** Milliseconds before the first repetition; doubled for each further one. */
const firstWait = 1_000

/** The statuses after which the same request may succeed (specification of OTLP, "Retryable Response Codes"). */
const passing = new Set([429, 502, 503, 504])

/** Sends spans to a collector, again while its failure may pass and the time lasts; then they are lost. Throws nothing. */
export function createExporter({ settings, send, signal, tell }: ExporterParts): SpanExporter {
  const { traces: url, headers, timeout } = settings
  const { host } = new URL(url)
  let failing = false
  return {
    export(spans, done) {
      deliver(spans).then(
        () => {
          if (failing) tell('Traces are sent again', { host })
          failing = false
          done({ code: ExportResultCode.SUCCESS })
        },
        (reason: Error) => {
          if (!failing && !signal.aborted) tell('Traces cannot be sent; chats go on', { host, reason: reason.message })
          failing = true
          done({ code: ExportResultCode.FAILED, error: reason })
        },
      )
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  }

  async function deliver(spans: ReadableSpan[]): Promise<void> {
    const body = ProtobufTraceSerializer.serializeRequest(spans)
    if (!body) return
    const endsAt = performance.now() + timeout
    for (let wait = firstWait; ; wait *= 2) {
      const failure = await post(body, endsAt)
      if (!failure) return
      const rest = Math.max(failure.waitMs ?? 0, wait)
      if (!failure.passes || performance.now() + rest >= endsAt) throw new Error(failure.reason)
      await sleep(rest, undefined, { signal, ref: false })
    }
  }

  async function post(body: Uint8Array, endsAt: number): Promise<Failure | undefined> {
    try {
      const reply = await send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-protobuf', ...headers },
        body,
        timeouts: { connect: timeout, firstByte: timeout, idle: timeout },
        signal,
        endsAt,
      })
      reply.discard()
      const { status } = reply
      if (status >= 200 && status < 300) return undefined
      const seconds = Number(reply.headers['retry-after'])
      return {
        reason: `status ${status}`,
        passes: passing.has(status),
        ...(seconds > 0 && { waitMs: seconds * 1000 }),
      }
    } catch (reason) {
      if (signal.aborted) throw reason
      const { code, message } = reason as NodeJS.ErrnoException
      return { reason: code ?? message, passes: true }
    }
  }
}

interface Failure {
  readonly reason: string
  /** Whether the same request may succeed later. */
  readonly passes: boolean
  readonly waitMs?: number
}
