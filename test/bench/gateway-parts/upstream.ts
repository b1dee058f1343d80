/**
 * The provider of the gateway bench, in the dialects of OpenAI (`/v1/chat/completions`) and Anthropic (`/v1/messages`): answers
 * at once, streams at once, or streams at a pace. Prints its port.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { completion, completionEvents } from '../../helpers/providers/fake-provider.ts'

const words = Array.from({ length: 20 }, (_, index) => `word${index} `)
const text = words.join('').repeat(2)
/** The tokens of a steady stream: one second's. */
const steadyWords = Array.from({ length: 50 }, (_, index) => `word${index % 20} `)

const openai = {
  whole: JSON.stringify(completion(text)),
  events: completionEvents(words),
  steady: completionEvents(steadyWords),
}

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', stop_sequence: null }
const usage = { input_tokens: 40, output_tokens: 40 }
const anthropic = {
  whole: JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage }),
  events: messageEvents(words),
  steady: messageEvents(steadyWords),
}

/** The first event after so many milliseconds, then one every so many: a fast provider, and a usual one. */
const fast = { first: 20, next: 2 }
const steady = { first: 20, next: 20 }

const server = createServer((request, response) => {
  const dialect = request.url === '/v1/messages' ? anthropic : openai
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString()
    if (!body.includes('"stream":true')) {
      const { whole } = dialect
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) })
      response.end(whole)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (body.includes('steady')) return pace(response, dialect.steady, steady)
    if (body.includes('paced')) return pace(response, dialect.events, fast)
    response.end(dialect.events.join(''))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))

function pace(response: ServerResponse, events: readonly string[], { first, next }: typeof fast): void {
  let index = 0
  const send = () => {
    response.write(events[index++]!)
    if (index < events.length) setTimeout(send, next)
    else response.end()
  }
  setTimeout(send, first)
}

function messageEvents(pieces: readonly string[]): string[] {
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  return [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...pieces.map((piece) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    event('message_stop', {}),
  ]
}
