import type { WireRequest } from '../../protocol/dialect.ts'
import type { ChatRequest } from '../../protocol/messages.ts'

/** A JSON request to the endpoint with `{model}` filled in. */
export function wireRequest(
  { model }: ChatRequest,
  endpoint: string,
  body: WireRequest['body'],
  headers: WireRequest['headers'] = {},
): WireRequest {
  return {
    url: endpoint.includes('{model}') ? endpoint.replaceAll('{model}', encodeURIComponent(model)) : endpoint,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  }
}

/** The most tokens of the answer, by either of OpenAI's names; undefined where none is set. */
export function tokenLimitOf(request: ChatRequest): number | undefined {
  return request.max_completion_tokens ?? request.max_tokens ?? undefined
}

/** The stop sequences as a list; undefined where none are set. */
export function stopsOf({ stop }: ChatRequest): readonly string[] | undefined {
  return typeof stop === 'string' ? [stop] : (stop ?? undefined)
}
