import { dialectFor } from '../../src/chat/dialects/dialects.ts'
import { chunksOf } from '../../src/chat/protocol/chunks.ts'
import { type ChatReply, type ChatRequest, textOf } from '../../src/chat/protocol/messages.ts'
import { type Answer, json } from '../fake-provider.ts'
import type { DialectId } from './client-libraries.ts'

/**
 * A provider of a dialect whose model says what it heard: `heard 3: One | … | Two`, whole or streamed as asked; shown a tool,
 * it calls that first.
 */
export function hearing(api: DialectId = 'openai-chat'): Answer {
  const dialect = dialectFor(api, '')
  return (received, response) => {
    const request = dialect.readRequest(JSON.parse(received.body), received.url)
    const answer = heardBy(request)
    if (!request.stream) return json(response, 200, dialect.writeResponse(answer))
    const encoder = dialect.createStreamWriter({ ...request, stream_options: { include_usage: true } })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(chunksOf(answer).map(encoder.push).join('') + encoder.end())
  }
}

function heardBy({ messages, tools }: ChatRequest): ChatReply {
  const calls = tools?.length && messages.at(-1)?.role !== 'tool'
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'weather', arguments: '{"city":"Bern"}' } }
  const content = `heard ${messages.length}: ${messages.map((message) => textOf(message.content)).join(' | ')}`
  return {
    // Some servers give each answer the same id.
    id: 'answer-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'custom-model',
    choices: [
      calls
        ? { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }
        : { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }
}
