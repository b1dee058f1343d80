import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ISerializer } from '@opentelemetry/otlp-transformer'
import type { Send } from '../http/http.ts'
import type { TelemetrySettings } from '../settings/settings.ts'

export interface ExporterParts<T> {
  /** The signal, for messages: `traces` or `metrics`. */
  readonly what: string
  readonly url: string
  readonly settings: Pick<TelemetrySettings, 'headers' | 'protocol' | 'gzip' | 'timeout'>
  readonly serializer: Pick<ISerializer<T, unknown>, 'serializeRequest'>
  readonly send: Send
  /** Aborted when the service ends and waits no longer. */
  readonly signal: AbortSignal
  /** Called with the first failure, and about the first success after one. */
  readonly tell: (message: string, fields: Readonly<Record<string, string>>) => void
}

/** The part that the exporters of spans and metrics share. */
export interface Exporter<T> {
  export(items: T, done: (result: ExportResult) => void): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

/** Milliseconds before the first repetition; doubled for each further one. */
const firstWait = 1_000

/** The statuses after which the same request may succeed (specification of OTLP, "Retryable Response Codes"). */
const passing = new Set([429, 502, 503, 504])

/** Sends items to a collector, again while its failure may pass and the time lasts; then they are lost. Throws nothing. */
export function createExporter<T>(parts: ExporterParts<T>): Exporter<T> {
  const { what, url, settings, serializer, send, signal, tell } = parts
  const { host } = new URL(url)
  let failing = false
  return {
    export(items, done) {
      deliver(items).then(
        () => {
          if (failing) tell(`${what} are sent again`, { host })
          failing = false
          done({ code: ExportResultCode.SUCCESS })
        },
        (reason: Error) => {
          if (!failing && !signal.aborted) tell(`${what} cannot be sent; chats go on`, { host, reason: reason.message })
          failing = true
          done({ code: ExportResultCode.FAILED, error: reason })
        },
      )
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  }

  async function deliver(items: T): Promise<void> {
    const bytes = serializer.serializeRequest(items)
    if (!bytes) return
    const body = settings.gzip ? await promisify(gzip)(bytes) : bytes
    const endsAt = performance.now() + settings.timeout
    for (let wait = firstWait; ; wait *= 2) {
      const failure = await post(body, endsAt)
      if (!failure) return
      const rest = Math.max(failure.waitMs ?? 0, wait)
      if (!failure.passes || performance.now() + rest >= endsAt) throw new Error(failure.reason)
      await sleep(rest, undefined, { signal, ref: false })
    }
  }

  async function post(body: Uint8Array, endsAt: number): Promise<Failure | undefined> {
    const { timeout } = settings
    try {
      const reply = await send({
        method: 'POST',
        url,
        headers: {
          'content-type': settings.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
          ...(settings.gzip && { 'content-encoding': 'gzip' }),
          ...settings.headers,
        },
        body,
        timeouts: { connect: timeout, firstByte: timeout, idle: timeout },
        signal,
        endsAt,
      })
      reply.discard()
      const { status, headers } = reply
      if (status >= 200 && status < 300) return undefined
      const seconds = Number(headers['retry-after'])
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
