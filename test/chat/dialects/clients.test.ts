import { fileURLToPath } from 'node:url'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import type { ChatChunk } from '../../../src/chat/protocol/messages.ts'
import { decode, dialectOf, encode, failsInside, requestOf } from '../../helpers/chat/exchange-checks.ts'
import { type Exchange, isChat, isStreamed, loadExchanges } from '../../helpers/chat/exchanges.ts'
import { type Facts, factsOf } from '../../helpers/chat/facts.ts'
import { suite } from '../../helpers/suite.ts'

const exchanges = loadExchanges(fileURLToPath(new URL('./test/fixtures/dialects/', import.meta.resolve('#package'))))
const answers = exchanges.filter((exchange) => isChat(exchange) && exchange.status === 200 && !failsInside(exchange))
const streams = answers.filter(isStreamed)

const test = suite("the official clients read every provider's answers")

/** A fetch that answers everything with these bytes. */
function answering(body: Buffer, type: string, status = 200): typeof fetch {
  return async () => new Response(body, { status, headers: { 'content-type': type } })
}

function openaiClient(body: Buffer, type: string, status?: number): OpenAI {
  return new OpenAI({
    apiKey: 'key',
    baseURL: 'http://127.0.0.1/v1',
    maxRetries: 0,
    fetch: answering(body, type, status),
  })
}

function anthropicClient(body: Buffer, type: string, status?: number): Anthropic {
  return new Anthropic({
    apiKey: 'key',
    baseURL: 'http://127.0.0.1',
    maxRetries: 0,
    fetch: answering(body, type, status),
  })
}

function chunksOf(exchange: Exchange): readonly ChatChunk[] {
  return decode(dialectOf(exchange), requestOf(exchange), [exchange.answer])
}

/** The first choice of the answer; clients other than OpenAI's learn of calls by the finish reason. */
function saidBy(exchange: Exchange): Facts['choices'][number] {
  return factsOf(dialectOf(exchange).id, exchange.answer, isStreamed(exchange)).choices[0]!
}

for (const exchange of streams) {
  test(`openai streams ${exchange.name}`, async () => {
    const client = openaiClient(encode(openai, requestOf(exchange), chunksOf(exchange)), 'text/event-stream')
    const runner = client.chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      stream_options: { include_usage: true },
    })
    const completion = await runner.finalChatCompletion()
    const [choice] = completion.choices
    const { text, calls, finish } = saidBy(exchange)
    assert.is((choice?.message.content ?? '') + (choice?.message.refusal ?? ''), text)
    assert.is(choice?.finish_reason, finish)
    const { tool_calls: wire = [], function_call: legacy } = choice!.message
    // Where a server answers with the legacy `function_call`, the client shows that alone.
    const made = legacy ? [legacy] : wire.flatMap((call) => (call.type === 'function' ? [call.function] : []))
    assert.equal(
      made.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) })),
      calls,
    )
  })

  test(`@anthropic-ai/sdk streams ${exchange.name}`, async () => {
    const client = anthropicClient(encode(anthropic, requestOf(exchange), chunksOf(exchange)), 'text/event-stream')
    const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
    const blocks: string[] = []
    stream.on('contentBlock', (block) => blocks.push(block.type))
    const message = await stream.finalMessage()
    const { text, calls, finish } = saidBy(exchange)
    assert.equal(
      blocks,
      message.content.map((block) => block.type),
      'every block ends, in order',
    )
    const words = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    assert.is(words + (message.stop_details?.explanation ?? ''), text)
    const made = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    assert.equal(
      made.map(({ name, input }) => ({ name, input })),
      calls,
    )
    const reasons: Record<string, string> = {
      stop: 'end_turn',
      length: 'max_tokens',
      tool_calls: 'tool_use',
      content_filter: 'refusal',
    }
    // A refusal in words is a part of a whole answer in OpenAI's dialects.
    const isRefusal = exchange.answer.includes('"type": "refusal"')
    assert.is(message.stop_reason, isRefusal ? 'refusal' : reasons[finish])
    const usage = factsOf(dialectOf(exchange).id, exchange.answer, true).usage
    const cached = (message.usage.cache_read_input_tokens ?? 0) + (message.usage.cache_creation_input_tokens ?? 0)
    // A provider that told no counts: they are estimated.
    if (!usage) return assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
    assert.is(message.usage.input_tokens + cached, usage.prompt)
    assert.is(message.usage.output_tokens, usage.completion)
  })

  for (const [name, client] of [
    ['openai', openai],
    ['@anthropic-ai/sdk', anthropic],
  ] as const)
    test(`${name} throws when ${exchange.name} fails after its first piece`, async () => {
      const encoder = client.createStreamWriter(requestOf(exchange))
      const [first, second] = chunksOf(exchange)
      const bytes = Buffer.from(
        encoder.push(first!) +
          (second ? encoder.push(second) : '') +
          encoder.fail({ message: 'the provider went away', status: 502 }),
      )
      const message = await failureOf(name, bytes)
      assert.match(message, 'the provider went away')
    })
}

async function failureOf(name: string, bytes: Buffer): Promise<string> {
  const messages = [{ role: 'user' as const, content: 'x' }]
  try {
    if (name === 'openai') {
      const stream = await openaiClient(bytes, 'text/event-stream').chat.completions.create({
        model: 'm',
        messages,
        stream: true,
      })
      for await (const _chunk of stream);
    } else
      await anthropicClient(bytes, 'text/event-stream')
        .messages.stream({ model: 'm', max_tokens: 9, messages })
        .finalMessage()
  } catch (error) {
    return String(error)
  }
  return 'nothing was thrown'
}

test.run()
