import { chunksOf } from '../../../src/chat/protocol/chunks.ts'
import {
  type ChatReply,
  type ChatRequest,
  type Message,
  textOf,
  type Usage,
} from '../../../src/chat/protocol/messages.ts'
import { providerSide } from '../chat/gemini-provider.ts'
import type { DialectId } from '../program/client-libraries.ts'
import { type Answer, json } from '../providers/fake-provider.ts'

const fewTokens: Usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

/**
 * A provider of a dialect with a model that answers each request by `say`, whole or streamed as asked.
 * @param count counts the tokens of a request by its body; by default 5, and 2 of the answer
 */
export function speaking(
  api: DialectId,
  say: (request: ChatRequest) => Partial<Message>,
  count: (body: Record<string, unknown>) => Usage = () => fewTokens,
): Answer {
  const dialect = providerSide(api)
  return (received, response) => {
    const body = JSON.parse(received.body)
    const request = dialect.readRequest(body, received.url)
    const answer = replyOf(say(request), count(body))
    if (!request.stream) return json(response, 200, dialect.writeResponse(answer, request))
    const encoder = dialect.createStreamWriter({ ...request, stream_options: { include_usage: true } })
    response.writeHead(200, { 'content-type': api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' })
    response.end(chunksOf(answer).map(encoder.push).join('') + encoder.end())
  }
}

/** A model's answer with one message. */
export function replyOf(message: Partial<Message>, usage: Usage): ChatReply {
  return {
    // Some servers give each answer the same id.
    id: 'answer-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'custom-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, ...message },
        finish_reason: message.tool_calls ? 'tool_calls' : 'stop',
      },
    ],
    usage,
  }
}

/** A model's messages in words: `heard 3: One | … | Two`. */
export function heard({ messages }: ChatRequest): string {
  return `heard ${messages.length}: ${messages.map((message) => textOf(message.content)).join(' | ')}`
}

/** A message that calls a tool. */
export function calling(name: string, input: object, id = `call_${name}`): Partial<Message> {
  return { tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }] }
}

/** The inputs of the tools that `working` knows, in the order of its calls. */
const toolInputs: Readonly<Record<string, object>> = {
  transfer_to_Expert: {},
  weather: { city: 'Bern' },
  clock: { zone: 'CET' },
}

/**
 * A model that calls each offered tool that it knows once, one in a turn, then gives `{"city":"Bern"}` when asked for
 * JSON, and else repeats its messages.
 */
export function working(request: ChatRequest): Partial<Message> {
  const shown = request.tools?.map((tool) => ('function' in tool ? tool.function.name : '')) ?? []
  const called = request.messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.name))
  const next = Object.keys(toolInputs).find((name) => shown.includes(name) && !called.includes(name))
  if (next !== undefined) return calling(next, toolInputs[next]!)
  const format = request.response_format?.type ?? 'text'
  return { content: format === 'text' ? heard(request) : '{"city":"Bern"}' }
}
