import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closing } from '../disposal.ts'

/** A request as the fake provider received it. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** True once the client has gone away before the answer was whole. */
  cancelled: boolean
}

/** A fake provider or local runner on loopback; it records its requests. */
export interface StandIn {
  readonly url: string
  readonly host: string
  readonly received: Received[]
  close(): Promise<void>
}

export type Answer = (request: Received, response: ServerResponse) => void | Promise<void>

/** Opens one; with `latin1` a body's bytes stay as they are, one character each. */
export async function openStandIn(
  answer: Answer,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<StandIn & AsyncDisposable> {
  const received: Received[] = []
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    try {
      for await (const piece of incoming) pieces.push(piece as Buffer)
    } catch {
      // The client went away in the middle of its request.
      return
    }
    const request: Received = {
      method: incoming.method!,
      url: incoming.url!,
      headers: incoming.headers,
      body: Buffer.concat(pieces).toString(encoding),
      cancelled: false,
    }
    received.push(request)
    response.on('close', () => {
      request.cancelled = !response.writableFinished
    })
    await answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return closing({
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    received,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** A chat completion as OpenAI writes it. */
export function completion(content: string, model = 'fake'): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }
}

/** The events of a streamed chat completion, one text each, ending as OpenAI's do. */
export function completionEvents(pieces: readonly string[], model = 'fake'): string[] {
  const event = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return [
    event({ role: 'assistant', content: '' }, null),
    ...pieces.map((content) => event({ content }, null)),
    event({}, 'stop'),
    'data: [DONE]\n\n',
  ]
}

/** A local runner that has one model and answers every chat with one text, streamed or not, in Ollama's dialect. */
export function localRunner(text = 'local answer', model = 'llama3:latest'): Answer {
  return (request, response) => {
    if (request.url === '/api/tags' || request.url === '/api/ps')
      return json(response, 200, { models: [{ name: model, model, size: 123 }] })
    if (request.url !== '/api/chat') return json(response, 404, { error: 'not found' })
    const last = {
      model,
      created_at: '2026-01-01T00:00:00Z',
      message: { role: 'assistant', content: text },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 3,
      eval_count: 2,
    }
    if (JSON.parse(request.body).stream === false) return json(response, 200, last)
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const word of text.split(/(?<= )/))
      response.write(`${JSON.stringify({ model, message: { role: 'assistant', content: word }, done: false })}\n`)
    response.end(`${JSON.stringify({ ...last, message: { role: 'assistant', content: '' } })}\n`)
  }
}
