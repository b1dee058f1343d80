import type { ServerResponse } from 'node:http'
import { type Answer, completion, completionEvents, json, type Received } from './fake-provider.ts'

/** Faults of a provider, each under a name; the count of requests so far decides where a fault passes. */
export type Fault = (response: ServerResponse, request: Received, count: number) => void | Promise<void>

const events = completionEvents(['Hello', ' big', ' wide', ' world'])

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

function streamed(request: Received): boolean {
  return JSON.parse(request.body).stream === true
}

/** An answer of three words, streamed when that was asked. */
function healthy(response: ServerResponse, request: Received): void {
  if (!streamed(request)) return json(response, 200, completion('Hello big wide world'))
  stream(response)
  response.end(events.join(''))
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const openaiError = (message: string, code: string | null, type = 'error') => ({
  error: { message, type, param: null, code },
})

export const faults: Record<string, Fault> = {
  healthy,
  'rate limit with a wait': (response, request, count) =>
    count > 1
      ? healthy(response, request)
      : json(response, 429, openaiError('Slow down', 'rate_limit_exceeded'), { 'retry-after-ms': '50' }),
  'rate limit with a long wait': (response) =>
    json(response, 429, openaiError('Slow down', 'rate_limit_exceeded'), { 'retry-after': '3600' }),
  'rate limit without a wait': (response, request, count) =>
    count > 1 ? healthy(response, request) : json(response, 429, openaiError('Slow down', 'rate_limit_exceeded')),
  'server error once': (response, request, count) =>
    count > 1 ? healthy(response, request) : json(response, 500, openaiError('Oops', 'server_error')),
  'unavailable for good': (response) => json(response, 503, openaiError('Down', 'service_unavailable')),
  overloaded: (response) =>
    json(response, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  'bad key': (response) =>
    json(response, 401, openaiError('Incorrect API key provided: sk-canary-0123456789', 'invalid_api_key')),
  'no money': (response) => json(response, 402, openaiError('Insufficient credits', null)),
  gone: (response) => json(response, 410, openaiError('This service was retired', null)),
  'bad request': (response) =>
    json(response, 400, openaiError('Unsupported value', 'unsupported_value', 'invalid_request_error')),
  'too long': (response) =>
    json(response, 400, openaiError('This model has a maximum context length of 10 tokens', 'context_length_exceeded')),
  'policy refusal': (response) =>
    json(response, 400, openaiError('Your request was flagged by our content policy', 'content_policy_violation')),
  'unknown model': (response) => json(response, 404, openaiError('The model does not exist', 'model_not_found')),
  reset: (response) => void response.socket?.resetAndDestroy(),
  'silence before headers': () => {},
  'slow first token': async (response, request) => {
    await wait(50)
    healthy(response, request)
  },
  'silence after the first chunk': (response, request) => {
    if (!streamed(request)) return healthy(response, request)
    stream(response)
    response.write(events.slice(0, 2).join(''))
  },
  'cut in the middle': (response, request) => {
    if (streamed(request)) stream(response)
    else response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
    response.write(streamed(request) ? events.slice(0, 3).join('') : '{"id":"chat', () => response.destroy())
  },
  'cut before content': (response, request) => {
    if (!streamed(request)) return void response.destroy()
    stream(response)
    response.write(events[0]!, () => response.destroy())
  },
  'bad chunk': async (response, request) => {
    if (!streamed(request)) return json(response, 200, '{"id": nonsense')
    stream(response)
    response.write(events.slice(0, 3).join(''))
    await wait(20)
    response.end(['data: {"id": nonsense\n\n', ...events.slice(3)].join(''))
  },
  'no end marker': (response, request) => {
    if (!streamed(request)) return json(response, 200, { ...completion('x'), choices: [] })
    stream(response)
    response.end(events.slice(0, 4).join(''))
  },
  'error in a 200, as OpenRouter': (response, request) => {
    const body = { id: 'gen-1', error: { code: 502, message: 'Upstream failed' } }
    if (!streamed(request)) return json(response, 200, body)
    stream(response)
    response.end(`: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify({ ...body, choices: [] })}\n\ndata: [DONE]\n\n`)
  },
  'error in a 200, as Groq': (response, request) => {
    const body = {
      error: { message: 'Over capacity', type: 'internal_server_error', code: 'server_error', status_code: 503 },
    }
    if (!streamed(request)) return json(response, 200, body)
    stream(response)
    response.end(`event: error\ndata: ${JSON.stringify(body)}\n\n`)
  },
  'error event after content': async (response, request) => {
    if (!streamed(request)) return json(response, 200, { error: { message: 'Broken', code: 'server_error' } })
    stream(response)
    response.write(events.slice(0, 3).join(''))
    await wait(20)
    response.end(`data: ${JSON.stringify({ error: { message: 'Broken', code: 502 } })}\n\ndata: [DONE]\n\n`)
  },
  'leading blank lines': (response, request) => {
    if (!streamed(request)) return json(response, 200, `\n\n   \n${JSON.stringify(completion('Hello big wide world'))}`)
    stream(response)
    response.end(`\n\n\n: keep-alive\n\n${events.join('')}`)
  },
  'split UTF-8': async (response, request) => {
    const text = 'Grüße, 世界 🌍'
    const bytes = Buffer.from(streamed(request) ? completionEvents([text]).join('') : JSON.stringify(completion(text)))
    response.writeHead(200, { 'content-type': streamed(request) ? 'text/event-stream' : 'application/json' })
    for (let index = 0; index < bytes.length; index += 7) {
      response.write(bytes.subarray(index, index + 7))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  },
  'web page': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Maintenance</title>')
  },
  'web page with an error status': (response) => {
    response.writeHead(502, { 'content-type': 'text/html' })
    response.end('<html><body>Bad gateway</body></html>')
  },
  redirect: (response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' })
    response.end()
  },
}

/** A provider with every fault: `/NAME/v1/chat/completions`. */
export function faultServer(): Answer {
  const counts = new Map<string, number>()
  return (request, response) => {
    const name = decodeURIComponent(request.url.split('/')[1]!)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return faults[name]!(response, request, count)
  }
}
