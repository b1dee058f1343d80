import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ChatChunk, ChatRequest, Message, ToolCall } from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { decode, encode } from '../../helpers/chat/exchange-checks.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite("Anthropic's dialect")

const endpoint = 'https://api.anthropic.com/v1/messages'
const hi: Message = { role: 'user', content: 'hi' }

function written(request: Partial<ChatRequest>): Record<string, unknown> {
  const asked = { model: 'claude-haiku-4-5', messages: [hi], max_tokens: 100, ...request }
  return JSON.parse(JSON.stringify(anthropic.writeRequest(asked, endpoint).body))
}

function call(id: string, text = '{}'): ToolCall {
  return { id, type: 'function', function: { name: 'f', arguments: text } }
}

const requests: readonly {
  readonly name: string
  readonly request: Partial<ChatRequest>
  readonly body: Record<string, unknown>
}[] = [
  {
    name: 'system messages from everywhere stand at the top, in order',
    request: {
      messages: [
        { role: 'system', content: 'a' },
        hi,
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        hi,
        { role: 'system', content: '' },
      ],
    },
    body: {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'text', text: 'hi' },
          ],
        },
      ],
    },
  },
  {
    name: 'one system message stays text',
    request: { messages: [{ role: 'system', content: 'a' }, hi] },
    body: { system: 'a', messages: [hi] },
  },
  {
    name: "a conversation of system messages alone becomes the user's",
    request: { messages: [{ role: 'system', content: 'a' }] },
    body: { messages: [{ role: 'user', content: 'a' }] },
  },
  {
    name: 'answers of tools and the next message of the user are one turn',
    request: {
      messages: [
        hi,
        { role: 'assistant', content: '', tool_calls: [call('a', '{"x":1}'), call('b', '')] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '2' }] },
        hi,
      ],
    },
    body: {
      messages: [
        hi,
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
            { type: 'tool_use', id: 'b', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: '1' },
            { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: '2' }] },
            { type: 'text', text: 'hi' },
          ],
        },
      ],
    },
  },
  {
    name: 'arguments that are no JSON are shown to the model as such',
    request: { messages: [hi, { role: 'assistant', content: null, tool_calls: [call('a', '{"x":')] }] },
    body: {
      messages: [
        hi,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { INVALID_JSON: '{"x":' } }] },
      ],
    },
  },
  {
    name: 'ids that Anthropic refuses are renamed',
    request: {
      messages: [
        hi,
        { role: 'assistant', content: null, tool_calls: [call('functions.f:0')] },
        { role: 'tool', tool_call_id: 'functions.f:0', content: 'x' },
      ],
    },
    body: {
      messages: [
        hi,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'functions_f_0', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'functions_f_0', content: 'x' }] },
      ],
    },
  },
  {
    name: 'unsigned thinking is not sent back, signed thinking comes first',
    request: {
      messages: [
        hi,
        {
          role: 'assistant',
          content: 'a',
          reasoning_content: 'hm',
          reasoning_details: [
            { type: 'reasoning.text', text: 'unsigned' },
            { type: 'reasoning.text', text: 'theirs', signature: 's', format: 'google-gemini-v1' },
            { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1' },
          ],
        },
        hi,
      ],
    },
    body: {
      messages: [
        hi,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'a' },
          ],
        },
        hi,
      ],
    },
  },
  {
    name: 'pictures are data or an address, files are documents',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } },
            { type: 'image_url', image_url: 'https://example.org/a.png' },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          ],
        },
      ],
    },
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
              title: 'a.pdf',
            },
          ],
        },
      ],
    },
  },
  {
    name: 'tools, the choice of one, and one call at a time',
    request: {
      tools: [{ type: 'function', function: { name: 'f', strict: true } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    },
    body: {
      messages: [hi],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} }, strict: true }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
  },
  { name: 'a choice without tools is left out', request: { tool_choice: 'auto' }, body: { messages: [hi] } },
  {
    name: 'a schema for the answer',
    request: {
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
    },
    body: { messages: [hi], output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  },
  {
    name: 'JSON without a schema is asked for in words',
    request: { response_format: { type: 'json_object' } },
    body: { messages: [hi], system: [{ type: 'text', text: 'Answer with one JSON object and nothing else.' }] },
  },
  {
    name: 'sampling within the scale of Anthropic, stops of more than white space, the user',
    request: {
      model: 'claude-sonnet-4',
      temperature: 1.7,
      top_p: 0.5,
      top_k: 3,
      stop: ['\n', 'END'],
      user: 'u',
      seed: 5,
      presence_penalty: 1,
    },
    body: {
      model: 'claude-sonnet-4',
      messages: [hi],
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
    },
  },
]

for (const { name, request, body } of requests)
  test(name, () => assert.equal(written(request), { model: 'claude-haiku-4-5', max_tokens: 100, ...body }))

test('where no limit was asked, one is set that every model accepts', () => {
  const { body, headers } = anthropic.writeRequest({ model: 'm', messages: [hi] }, endpoint)
  assert.is(body['max_tokens'], 32_000)
  assert.is(headers['anthropic-version'], '2023-06-01')
})

const efforts: readonly { readonly model: string; readonly effort: string; readonly fields: object }[] = [
  {
    model: 'claude-opus-5',
    effort: 'high',
    fields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  },
  {
    model: 'claude-sonnet-4-6',
    effort: 'minimal',
    fields: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
  },
  {
    model: 'claude-opus-4-5-20251101',
    effort: 'low',
    fields: { thinking: { type: 'enabled', budget_tokens: 1024 }, output_config: { effort: 'low' } },
  },
  { model: 'claude-haiku-4-5', effort: 'medium', fields: { thinking: { type: 'enabled', budget_tokens: 8192 } } },
  { model: 'claude-sonnet-4-20250514', effort: 'high', fields: { thinking: { type: 'enabled', budget_tokens: 9999 } } },
  { model: 'claude-3-5-haiku', effort: 'high', fields: { temperature: 0.5 } },
  { model: 'claude-opus-4-6', effort: 'none', fields: { temperature: 0.5 } },
]

for (const { model, effort, fields } of efforts)
  test(`${model} asked for ${effort} effort`, () => {
    const {
      model: _model,
      messages: _messages,
      max_tokens: _limit,
      ...rest
    } = written({ model, reasoning_effort: effort, max_tokens: 10_000, temperature: 0.5 })
    assert.equal(rest, fields)
  })

test('nothing thinks under a forced tool, or after a call whose thinking did not come back', () => {
  const tools = [{ type: 'function' as const, function: { name: 'f' } }]
  assert.is(written({ reasoning_effort: 'low', tools, tool_choice: 'required' })['thinking'], undefined)
  const messages: Message[] = [
    hi,
    { role: 'assistant', content: null, tool_calls: [call('a')] },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ]
  assert.is(written({ reasoning_effort: 'low', max_tokens: 4000, tools, messages })['thinking'], undefined)
})

test('several answers to one request are refused, not forgotten', () => {
  assert.throws(
    () => written({ n: 2 }),
    (error: unknown) => error instanceof AppError && error.code === 'invalid',
  )
})

test('everything that is wrong with a request is named at once, with its path', () => {
  try {
    anthropic.readRequest({ system: 5, tools: {}, messages: [{ role: 'tool', content: 5 }] })
    assert.unreachable()
  } catch (error) {
    const paths = ['system', 'tools', 'messages[0].role', 'messages[0].content']
    for (const path of paths)
      assert.ok(
        (error as AppError).details.some((line) => line.startsWith(`${path} `)),
        path,
      )
  }
  assert.throws(
    () => anthropic.readRequest({ messages: 5, stop_sequences: Array<string>(1000).fill('x') }),
    (error: unknown) => (error as AppError).details.length === 1,
  )
})

const asked: ChatRequest = { model: 'm', messages: [hi], stream: true }

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

function stream(...events: readonly string[]): Buffer {
  const start = {
    message: { id: 'i', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
  }
  const end = event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } })
  return Buffer.from([event('message_start', start), ...events, end, event('message_stop', {})].join(''))
}

test('a call without arguments has {} for them', () => {
  const bytes = stream(
    event('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } }),
    event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '' } }),
    event('content_block_stop', { index: 0 }),
  )
  const reply = collectReply(decode(anthropic, asked, [bytes]))
  assert.is(reply.choices[0]!.message.tool_calls![0]!.function.arguments, '{}')
  assert.equal(reply.usage?.total_tokens, 10)
})

test('input that stands whole in the start of a call is read', () => {
  const bytes = stream(
    event('content_block_start', {
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
    }),
    event('content_block_stop', { index: 0 }),
  )
  const reply = collectReply(decode(anthropic, asked, [bytes]))
  assert.is(reply.choices[0]!.message.tool_calls![0]!.function.arguments, '{"x":1}')
})

test('a piece of a block that had not begun breaks the stream', () => {
  const bytes = stream(event('content_block_delta', { index: 4, delta: { type: 'text_delta', text: 'x' } }))
  assert.throws(() => decode(anthropic, asked, [bytes]), /had not begun/)
})

test("fields that only Anthropic's clients understand reach them through us", () => {
  const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
  const bytes = stream(
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
    event('content_block_delta', { index: 0, delta: { type: 'citations_delta', citation: { url: 'u' } } }),
    event('content_block_stop', { index: 0 }),
    event('content_block_start', { index: 1, content_block: search }),
    event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } }),
    event('content_block_stop', { index: 1 }),
    event('content_block_start', { index: 2, content_block: { type: 'redacted_thinking', data: 'd' } }),
    event('content_block_stop', { index: 2 }),
  )
  const chunks = decode(anthropic, asked, [bytes])
  const sent = encode(anthropic, asked, chunks).toString()
  const blocks = [...sent.matchAll(/"type":"content_block_start","index":(\d),"content_block":\{"type":"(\w+)"/g)]
  assert.equal(
    blocks.map((match) => [match[1], match[2]]),
    [
      ['0', 'text'],
      ['1', 'server_tool_use'],
      ['2', 'redacted_thinking'],
    ],
  )
  assert.match(sent, '"citation":{"url":"u"}')
  assert.match(sent, '"partial_json":"{\\"q\\":1}"')
  const plain = encode(openai, asked, chunks).toString()
  assert.not.match(plain, /web_search|citation|extra_content/)
})

test('a choice among tools is read, and one of an unknown kind goes back as it came', () => {
  const read = (tool_choice: object) => anthropic.readRequest({ max_tokens: 9, messages: [hi], tool_choice })
  assert.equal(pluck([read({ type: 'any' })], 'tool_choice', 'extra_content'), [['required', undefined]])
  assert.equal(read({ type: 'tool', name: 'f' })['tool_choice'], { type: 'function', function: { name: 'f' } })
  const own = { type: 'of-next-year' }
  assert.equal(read(own)['extra_content'], { anthropic: { tool_choice: own } })
})

test('thinking of a provider that signs nothing is shown with an empty signature, and is not taken back', () => {
  const reply = {
    id: 'i',
    object: 'chat.completion' as const,
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant' as const, content: 'a', reasoning_content: 'hm' },
        finish_reason: 'stop' as const,
      },
    ],
  }
  const message = anthropic.writeResponse(reply)
  assert.equal(message['content'], [
    { type: 'thinking', thinking: 'hm', signature: '' },
    { type: 'text', text: 'a' },
  ])
  const next = anthropic.readRequest({
    model: 'm',
    max_tokens: 5,
    messages: [hi, { role: 'assistant', content: message['content'] }, hi],
  })
  const body = JSON.parse(JSON.stringify(anthropic.writeRequest(next, endpoint).body))
  assert.equal(body.messages[1], { role: 'assistant', content: 'a' })
})

test('pieces of two calls that come by turns are written one call after the other', () => {
  const piece = (index: number, text: string, id?: string): ChatChunk => ({
    id: 'i',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index, ...(id && { id }), function: { name: 'f', arguments: text } }] },
        finish_reason: null,
      },
    ],
  })
  const finish: ChatChunk = { ...piece(0, ''), choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }
  const chunks = [piece(0, '{"a"', 'A'), piece(1, '{"b"', 'B'), piece(0, ':1}'), piece(1, ':2}'), finish]
  const reply = collectReply(decode(anthropic, asked, [encode(anthropic, asked, chunks)]))
  assert.equal(
    reply.choices[0]!.message.tool_calls!.map((made) => [made.id, made.function.arguments]),
    [
      ['A', '{"a":1}'],
      ['B', '{"b":2}'],
    ],
  )
})

test('an answer that ended with an error has no clean end', () => {
  const chunk: ChatChunk = {
    id: 'i',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: 'error' }],
  }
  const sent = encode(anthropic, asked, [chunk]).toString()
  assert.match(sent, 'event: error')
  assert.not.match(sent, 'message_stop')
})

test('cached tokens are counted in for us and beside the input for Anthropic', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 3 }
  const reply = anthropic.readResponse({ content: [], stop_reason: 'end_turn', usage }, 0)
  assert.equal(reply.usage, {
    prompt_tokens: 17,
    completion_tokens: 3,
    total_tokens: 20,
    prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
  })
  assert.equal(anthropic.writeResponse(reply)['usage'], usage)
})

test.run()
