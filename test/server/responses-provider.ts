import { chunksOf } from '../../src/chat/protocol/chunks.ts'
import type { Dialect } from '../../src/chat/protocol/dialect.ts'
import type { ChatReply, Message } from '../../src/chat/protocol/messages.ts'
import { piecesOf } from '../helpers/chat/arbitraries.ts'
import { encode } from '../helpers/chat/exchange-checks.ts'
import { providerSide } from '../helpers/chat/gemini-provider.ts'
import { type Answer, json } from '../helpers/providers/fake-provider.ts'
import { replyOf } from '../helpers/speech/speaking-model.ts'

const usage = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28, prompt_tokens_details: { cached_tokens: 4 } }

/** A provider of one dialect that gives these answers one after the other, whole or streamed as it is asked. */
export function providerOf(api: Dialect['id'], answers: readonly Partial<Message>[]): Answer {
  const dialect = providerSide(api)
  let count = 0
  return ({ url, body }, response) => {
    const message = answers[Math.min(count++, answers.length - 1)]!
    const asked = JSON.parse(body)
    const reply = { ...replyOf(message, usage), id: `answer-${count}` }
    const isStreamed = api === 'gemini' ? url.includes(':stream') : asked.stream === true
    const request =
      api === 'openai-responses' ? dialect.readRequest(asked, url) : { model: 'custom-model', messages: [] }
    if (!isStreamed) return json(response, 200, dialect.writeResponse(reply, request))
    response.writeHead(200, { 'content-type': api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' })
    response.end(encode(dialect, request, signedCalls(reply)))
  }
}

/** The pieces of an answer; calls with a signature stay whole, as Gemini sends them. */
function signedCalls(reply: ChatReply) {
  const isSigned = reply.choices[0]?.message.tool_calls?.some((call) => call.extra_content)
  return isSigned ? chunksOf(reply) : piecesOf(chunksOf(reply), 3)
}
