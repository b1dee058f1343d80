import * as assert from 'uvu/assert'
import { ollama } from '../../../src/chat/dialects/ollama/dialect.ts'
import type { ChatRequest, Message } from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { decode, encode } from '../../helpers/chat/exchange-checks.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite("Ollama's dialect")

const endpoint = 'http://127.0.0.1:11434/api/chat'
const hi: Message = { role: 'user', content: 'hi' }

function written(request: Partial<ChatRequest>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(ollama.writeRequest({ model: 'qwen3', messages: [hi], ...request }, endpoint).body))
}

const requests: readonly {
  readonly name: string
  readonly request: Partial<ChatRequest>
  readonly body: Record<string, unknown>
}[] = [
  {
    name: 'stream is always set, since Ollama streams by default',
    request: {},
    body: { messages: [hi], stream: false },
  },
  {
    name: 'parts become text and pictures',
    request: {
      stream: true,
      messages: [
        { role: 'developer', content: 's' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    },
    body: {
      stream: true,
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'ab', images: ['AAAA'] },
      ],
    },
  },
  {
    name: 'arguments are an object, and an answer names its tool',
    request: {
      messages: [
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    },
    body: {
      stream: false,
      messages: [
        {
          role: 'assistant',
          content: '',
          thinking: 'hm',
          tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }],
        },
        { role: 'tool', content: 'x', tool_name: 'f', tool_call_id: 'a' },
      ],
    },
  },
  {
    name: 'sampling and limits are options, the shape of the answer is the format',
    request: {
      temperature: 0.1,
      top_p: 0.2,
      top_k: 3,
      max_tokens: 4,
      seed: 5,
      stop: 'END',
      presence_penalty: 0.6,
      frequency_penalty: 0.7,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
    },
    body: {
      messages: [hi],
      stream: false,
      format: { type: 'object' },
      options: {
        temperature: 0.1,
        top_p: 0.2,
        top_k: 3,
        num_predict: 4,
        seed: 5,
        stop: ['END'],
        presence_penalty: 0.6,
        frequency_penalty: 0.7,
      },
    },
  },
  {
    name: 'JSON without a schema',
    request: { response_format: { type: 'json_object' } },
    body: { messages: [hi], stream: false, format: 'json' },
  },
  {
    name: 'effort is to think or not',
    request: { reasoning_effort: 'none' },
    body: { messages: [hi], stream: false, think: false },
  },
  {
    name: 'effort is a level for gpt-oss',
    request: { model: 'gpt-oss:20b', reasoning_effort: 'high' },
    body: { messages: [hi], stream: false, think: 'high' },
  },
]

for (const { name, request, body } of requests)
  test(name, () => assert.equal(written(request), { model: request.model ?? 'qwen3', ...body }))

test('an address of a picture and several answers are refused, not forgotten', () => {
  const picture: Message = {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }],
  }
  for (const request of [{ messages: [picture] }, { n: 2 }])
    assert.throws(
      () => written(request),
      (error: unknown) => error instanceof AppError && error.code === 'invalid',
    )
})

test('answers of tools without ids find their calls by name, else in order', () => {
  const calls = ['f', 'g'].map((name) => ({ function: { name, arguments: { a: 1 } } }))
  const { messages } = ollama.readRequest({
    model: 'm',
    messages: [
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', tool_name: 'g', content: '1' },
      { role: 'tool', content: '2' },
    ],
  })
  const ids = messages[0]!.tool_calls!.map((call) => call.id)
  assert.equal(pluck(messages.slice(1), 'tool_call_id'), [ids[1], ids[0]])
})

test('a request streams unless it sets stream to false', () => {
  assert.is(ollama.readRequest({ model: 'm', messages: [hi] }).stream, true)
  assert.is(ollama.readRequest({ model: 'm', messages: [hi], stream: false }).stream, false)
})

const asked: ChatRequest = { model: 'm', messages: [hi], stream: true }

test('calls in several lines are numbered through, and each has an id of its own', () => {
  const line = (name: string) =>
    JSON.stringify({
      model: 'm',
      created_at: '2026-01-01T00:00:00Z',
      message: { role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: {} } }] },
      done: false,
    })
  const end = JSON.stringify({
    model: 'm',
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason: 'stop',
  })
  const chunks = decode(ollama, asked, [Buffer.from([line('f'), line('g'), end].join('\r\n'))])
  const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
  assert.equal(
    calls.map((call) => [call.index, call.function?.name]),
    [
      [0, 'f'],
      [1, 'g'],
    ],
  )
  assert.is(new Set(calls.map((call) => call.id)).size, 2)
  assert.is(chunks.at(-1)!.choices[0]!.finish_reason, 'tool_calls')
})

test('the durations of an answer reach a client of Ollama', () => {
  const body = {
    model: 'm',
    created_at: '2026-01-01T00:00:00.5Z',
    message: { role: 'assistant', content: 'a' },
    done: true,
    done_reason: 'stop',
    total_duration: 5,
    prompt_eval_count: 1,
    eval_count: 2,
  }
  assert.equal(ollama.writeResponse(ollama.readResponse(body, 0)), body)
  assert.match(
    encode(ollama, asked, decode(ollama, asked, [Buffer.from(JSON.stringify(body))])).toString(),
    '"total_duration":5',
  )
})

test('a failure is a line of its own', () => {
  assert.is(ollama.createStreamWriter(asked).fail({ message: 'no', status: 500 }), '{"error":"no"}\n')
})

test.run()
