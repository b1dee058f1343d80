/** Facts of a span: names of OpenTelemetry's conventions, and never content. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export type SpanKind = 'client' | 'internal'

/** A piece of work in a trace. `src/otlp` implements it; without a collector there is none, and nothing is loaded for it. */
export interface Span {
  /** Begins a span within this one. */
  child(name: string, kind: SpanKind, attributes: SpanAttributes): Span
  set(attributes: SpanAttributes): void
  /** The trace context (W3C) of requests that are sent for this work: `traceparent`, and `tracestate` where there is one. */
  readonly headers: Readonly<Record<string, string>>
  /** Ends it, once; `failure` is the class of its error, as in `error.type`. */
  end(failure?: string): void
}

/** Begins the spans of requests. */
export interface Tracer {
  /** The span of a request from outside, within its caller's trace where `traceparent` names one. */
  request(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    attributes: SpanAttributes,
  ): RequestSpan
}

/** The span of a request. It is renamed once the route is known. */
export interface RequestSpan extends Span {
  rename(name: string): void
}

/** The facts of a search in memories by OpenTelemetry's conventions; its question is content, and not recorded. */
export const searchFacts: SpanAttributes = { 'gen_ai.operation.name': 'search_memory' }

/** Runs work in a span within another one, where there is one. */
export async function within<T>(
  parent: Span | undefined,
  name: string,
  attributes: SpanAttributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!parent) return work(undefined)
  const span = parent.child(name, 'internal', attributes)
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (reason) {
    span.end(failureName(reason))
    throw reason
  }
}

/** The class of a failure for `error.type`: a code, never a message. */
function failureName(reason: unknown): string {
  const { code, name } = (reason ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : '_OTHER'
}
