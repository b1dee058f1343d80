import {
  type Span as ApiSpan,
  type Tracer as ApiTracer,
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { SpanKind as Kind, RequestSpan, Span, SpanAttributes, Tracer } from '../telemetry/telemetry.ts'

const propagator = new W3CTraceContextPropagator()

/** Spans of OpenTelemetry. The context is passed on by hand: following it through each promise would slow all of them. */
export function createTracer(tracer: ApiTracer): Tracer {
  return {
    request(headers, attributes) {
      const caller = propagator.extract(ROOT_CONTEXT, headers, {
        get: (carrier, name) => carrier[name] as string | string[] | undefined,
        keys: (carrier) => Object.keys(carrier),
      })
      const options = { kind: SpanKind.SERVER, attributes: attributes as Attributes }
      return new OtelSpan(tracer, tracer.startSpan('request', options, caller), caller)
    },
  }
}

const kinds: Readonly<Record<Kind, SpanKind>> = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

class OtelSpan implements RequestSpan {
  readonly #tracer: ApiTracer
  readonly #span: ApiSpan
  readonly #context: Context
  #headers: Readonly<Record<string, string>> | undefined

  constructor(tracer: ApiTracer, span: ApiSpan, parent: Context) {
    this.#tracer = tracer
    this.#span = span
    this.#context = trace.setSpan(parent, span)
  }

  child(name: string, kind: Kind, attributes: SpanAttributes): Span {
    const options = { kind: kinds[kind], attributes: attributes as Attributes }
    return new OtelSpan(this.#tracer, this.#tracer.startSpan(name, options, this.#context), this.#context)
  }

  set(attributes: SpanAttributes): void {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.#span.setAttribute(name, value as Exclude<Attributes[string], undefined>)
    }
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  get headers(): Readonly<Record<string, string>> {
    if (this.#headers) return this.#headers
    const headers: Record<string, string> = {}
    propagator.inject(this.#context, headers, {
      set: (carrier, name, value) => {
        carrier[name] = value
      },
    })
    this.#headers = headers
    return headers
  }

  end(failure?: string): void {
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', failure)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}
