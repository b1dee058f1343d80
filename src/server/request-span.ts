import type { SpanAttributes } from '../telemetry/span.ts'
import type { RequestContext } from './request-context.ts'

/** The facts of a request by OpenTelemetry's conventions for HTTP servers: its route, not its path. */
export function requestFacts({ request, record, id }: RequestContext, route: string): SpanAttributes {
  return {
    'http.request.method': request.method,
    'http.route': route || undefined,
    'url.scheme': 'http',
    'client.address': record.client,
    'network.protocol.version': request.httpVersion,
    'aichat.request_id': id,
  }
}

/** Ends the span of a request; a status below 500 is no failure of this server. */
export function endSpan({ request, record }: RequestContext, route: string, status: number): void {
  const { span, user } = record
  if (!span) return
  span.rename(route ? `${request.method} ${route}` : `${request.method}`)
  span.set({ 'http.response.status_code': status, 'enduser.id': user })
  span.end(status >= 500 ? String(status) : undefined)
}
