import * as assert from 'uvu/assert'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import { DialectError, type Quirks } from '../../../src/chat/protocol/dialect.ts'
import type { ChatRequest, Message } from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { decode, encode } from '../../helpers/chat/exchange-checks.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite("OpenAI's dialect")

const own = 'https://api.openai.com/v1/chat/completions'
const groq = 'https://api.groq.com/openai/v1/chat/completions'
const mistral = 'https://api.mistral.ai/v1/chat/completions'
const other = 'https://example.org/v1/chat/completions'
const hi: Message = { role: 'user', content: 'hi' }

function written(request: Partial<ChatRequest>, endpoint = other, quirks?: Quirks): Record<string, unknown> {
  const asked = { model: 'm', messages: [hi], ...request }
  return JSON.parse(JSON.stringify(openai.writeRequest(asked, endpoint, quirks).body))
}

const bodies: readonly {
  readonly name: string
  readonly request: Partial<ChatRequest>
  readonly endpoint?: string
  readonly quirks?: Quirks
  readonly body: Record<string, unknown>
}[] = [
  {
    name: 'a request goes out as it came, unknown fields too',
    request: { logit_bias: { 5: 1 }, service_tier: 'flex', stream_options: { include_usage: true } },
    body: {
      model: 'm',
      messages: [hi],
      logit_bias: { 5: 1 },
      service_tier: 'flex',
      stream_options: { include_usage: true },
    },
  },
  { name: 'a request without a model names none', request: { model: '' }, body: { messages: [hi] } },
  {
    name: 'the field of the token limit follows the quirk',
    request: { max_tokens: 5 },
    quirks: { max_tokens_field: 'max_completion_tokens' },
    body: { model: 'm', messages: [hi], max_completion_tokens: 5 },
  },
  {
    name: "OpenAI's reasoning models get max_completion_tokens",
    request: { model: 'gpt-5-mini', max_tokens: 5 },
    endpoint: own,
    body: { model: 'gpt-5-mini', messages: [hi], max_completion_tokens: 5 },
  },
  {
    name: 'a model of the same name at another provider gets the sampling asked for',
    request: { model: 'gpt-5-mini', max_tokens: 5, temperature: 0.2 },
    body: { model: 'gpt-5-mini', messages: [hi], max_tokens: 5, temperature: 0.2 },
  },
  {
    name: 'Mistral gets max_tokens, and system for developer',
    request: { max_completion_tokens: 5, messages: [{ role: 'developer', content: 's' }, hi] },
    endpoint: mistral,
    body: { model: 'm', max_tokens: 5, messages: [{ role: 'system', content: 's' }, hi] },
  },
  {
    name: "sampling that OpenAI's reasoning models refuse is left out, neutral values stay",
    request: { model: 'o3', temperature: 0.2, top_p: 1, presence_penalty: 0.5, frequency_penalty: 0, seed: 3 },
    endpoint: own,
    body: { model: 'o3', messages: [hi], top_p: 1, frequency_penalty: 0, seed: 3 },
  },
  {
    name: 'sampling stays where reasoning is off',
    request: { model: 'gpt-5.2', temperature: 0.2, reasoning_effort: 'none' },
    endpoint: own,
    body: { model: 'gpt-5.2', messages: [hi], temperature: 0.2, reasoning_effort: 'none' },
  },
  {
    name: 'sampling stays for models that do not reason',
    request: { model: 'gpt-4.1', temperature: 0.2 },
    endpoint: own,
    body: { model: 'gpt-4.1', messages: [hi], temperature: 0.2 },
  },
  {
    name: 'stream_options are left out where the provider refuses them',
    request: { stream: true, stream_options: { include_usage: true } },
    quirks: { no_stream_options: true },
    body: { model: 'm', messages: [hi], stream: true },
  },
  {
    name: 'the system prompt takes the role of the quirk',
    request: { messages: [{ role: 'system', content: 's' }, hi, { role: 'developer', content: 'd' }] },
    quirks: { system_as: 'user' },
    body: { model: 'm', messages: [{ role: 'user', content: 's' }, hi, { role: 'user', content: 'd' }] },
  },
  {
    name: 'fields of other dialects are left out',
    request: {
      extra_content: { anthropic: { thinking: {} } },
      tool_choice: 'auto',
      tools: [{ type: 'foreign', dialect: 'anthropic', value: { type: 'web_search' } }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'a', extra_content: { anthropic: { cache_control: {} } } }],
          extra_content: { gemini: { role: 'user' } },
        },
        { role: 'assistant', content: [{ type: 'foreign', dialect: 'gemini', value: {} }] },
      ],
    },
    body: {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content: null },
      ],
    },
  },
  {
    name: "Gemini's signatures stay for a service that may be Gemini's",
    request: { messages: [signedTurn()] },
    body: { model: 'm', messages: [signedTurn()] },
  },
  {
    name: 'Mistral has a name of its own for the seed',
    request: { seed: 4 },
    endpoint: mistral,
    body: { model: 'm', messages: [hi], random_seed: 4 },
  },
  {
    name: 'thinking and signatures are left out where a host refuses them',
    request: { messages: [{ ...signedTurn(), reasoning_content: 'hm', refusal: null, annotations: [] }] },
    endpoint: groq,
    body: { model: 'm', messages: [plainTurn()] },
  },
]

test('pictures in the results of tools follow in a message of the user, behind the names of their calls', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const answer = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: [text(id), image] })
  const bare: Message = { role: 'tool', tool_call_id: 'c', content: [image] }
  const messages = [plainTurn(), answer('a'), answer('b'), bare, hi]
  const results = [
    { role: 'tool', tool_call_id: 'a', content: [text('a')] },
    { role: 'tool', tool_call_id: 'b', content: [text('b')] },
    { role: 'tool', tool_call_id: 'c', content: '[The result follows as a message of the user.]' },
  ]
  const shown = ['f (a)', 'a tool (b)', 'a tool (c)'].flatMap((call) => [text(`From the result of ${call}:`), image])
  const following = { role: 'user', content: shown }
  assert.equal(written({ messages }, own)['messages'], [plainTurn(), ...results, following, hi])
  assert.equal(written({ messages })['messages'], [plainTurn(), ...results, following, hi])
  const between = { role: 'assistant', content: 'Show me the result.' }
  const last = written({ messages: messages.slice(0, -1) }, 'https://api.mistral.ai/v1/chat/completions')
  assert.equal(last['messages'], [plainTurn(), ...results, between, following])
})

function text(words: string) {
  return { type: 'text', text: words }
}

test('an event named error is an error with any data', () => {
  for (const [data, message] of [
    ['{"message":"a","code":"b"}', 'a'],
    ['{"error":"c"}', 'c'],
    ['just words', 'just words'],
    ['null', 'null'],
  ] as const)
    assert.throws(
      () => decode(openai, request, [Buffer.from(`event: error\ndata: ${data}\n\n`)]),
      (error: unknown) => error instanceof DialectError && error.kind === 'reported' && error.message === message,
    )
})

function plainTurn(): Message {
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
}

function signedTurn(): Message {
  const [call] = plainTurn().tool_calls!
  return { ...plainTurn(), tool_calls: [{ ...call!, extra_content: { google: { thought_signature: 's' } } }] }
}

for (const { name, request, endpoint, quirks, body } of bodies)
  test(name, () => assert.equal(written(request, endpoint, quirks), body))

test('ids of calls are renamed to fit the pattern, the same in every message, and those that fit stay', () => {
  const calls = ['call_very_long_1', 'abcDEF123', 'call_very_long_2'].map((id) => ({
    id,
    type: 'function' as const,
    function: { name: 'f', arguments: '{}' },
  }))
  const answers = calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'x' }))
  const quirks = { tool_id_pattern: '^[a-zA-Z0-9]{9}$' }
  const body = written(
    { messages: [{ role: 'assistant', content: null, tool_calls: calls }, ...answers] },
    mistral,
    quirks,
  )
  const [turn, ...rest] = body['messages'] as Message[]
  const ids = turn!.tool_calls!.map((call) => call.id)
  for (const id of ids) assert.match(id, /^[a-zA-Z0-9]{9}$/)
  assert.is(new Set(ids).size, 3)
  assert.is(ids[1], 'abcDEF123')
  assert.equal(pluck(rest, 'tool_call_id'), ids)
})

test('the model stands in the address where the endpoint has a place for it', () => {
  const request = { model: 'a/b c', messages: [hi] }
  assert.is(openai.writeRequest(request, 'https://example.org/{model}/x').url, 'https://example.org/a%2Fb%20c/x')
})

test('everything that is wrong with a request is named at once, with its path', () => {
  const body = {
    model: 5,
    temperature: 'hot',
    messages: [{ role: 'robot', content: 7 }, 'x', { role: 'user', content: [{ type: 'text' }] }],
    tools: [{ type: 'function', function: {} }],
  }
  try {
    openai.readRequest(body)
    assert.unreachable()
  } catch (error) {
    assert.instance(error, AppError)
    const { details } = error as AppError
    for (const path of ['messages[1]'])
      assert.ok(
        details.some((line) => line.startsWith(path)),
        path,
      )
  }
  assert.throws(
    () => openai.readRequest({ model: 'm', messages: {} }),
    (error: unknown) => error instanceof AppError && error.details[0]!.startsWith('messages '),
  )
  const better = {
    ...body,
    messages: [
      { role: 'robot', content: 7, name: 5, refusal: {} },
      { role: 'user', content: [{ type: 'text' }] },
    ],
  }
  try {
    openai.readRequest(better)
    assert.unreachable()
  } catch (error) {
    const { details } = error as AppError
    const paths = [
      'model',
      'temperature',
      'messages[0].role',
      'messages[0].content',
      'messages[0].name',
      'messages[0].refusal',
      'messages[1].content[0].text',
      'tools[0].function.name',
    ]
    for (const path of paths)
      assert.ok(
        details.some((line) => line.startsWith(`${path} `)),
        path,
      )
  }
})

test('a request whose fields are all checked keeps each of them', () => {
  const messages = [
    { role: 'assistant', content: null, refusal: 'No', name: 'a', reasoning_content: 'Hm' },
    { role: 'tool', tool_call_id: 'c', content: 'y' },
  ]
  assert.equal(openai.readRequest({ model: 'm', messages, stop: 'END' }), { model: 'm', messages, stop: 'END' })
})

const request: ChatRequest = { model: 'm', messages: [hi], stream: true }

function events(...values: readonly unknown[]): Buffer {
  return Buffer.from(`${values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`)
}

function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 5,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  }
}

test('chunks that need no mending are sent on byte for byte', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, unknown: { a: 1 } }
  const bytes = events(
    chunk({ role: 'assistant', content: '' }, null, { obfuscation: 'x', system_fingerprint: 'f' }),
    chunk({ content: 'a' }),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage },
  )
  assert.is(encode(openai, request, decode(openai, request, [bytes])).toString(), bytes.toString())
})

test('token counts go to a client only when it asked for them', () => {
  const bytes = events(chunk({ role: 'assistant', content: 'a' }, 'stop'), {
    ...chunk({}),
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  })
  const chunks = decode(openai, request, [bytes])
  const encoder = openai.createStreamWriter(request)
  assert.not.match(chunks.map((one) => encoder.push(one)).join(''), 'usage')
})

test('token counts beside the last text come once, in a chunk of their own', () => {
  const bytes = events(
    chunk({ role: 'assistant', content: 'a' }),
    chunk({}, 'stop', { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  )
  const chunks = decode(openai, request, [bytes])
  assert.equal(
    chunks.map((one) => [one.choices.length, one.usage?.total_tokens]),
    [
      [1, undefined],
      [1, undefined],
      [0, 2],
    ],
  )
})

test('a first piece without a role gets one', () => {
  const [first] = decode(openai, request, [events(chunk({ content: 'a' }), chunk({}, 'stop'))])
  assert.equal(first!.choices[0]!.delta, { content: 'a', role: 'assistant' })
})

test('parallel calls that all say index 0 are told apart by their ids', () => {
  const piece = (id: string, text: string) =>
    chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name: 'f', arguments: text } }] })
  const chunks = decode(openai, request, [
    events(chunk({ role: 'assistant' }), piece('a', '{}'), piece('b', '{}'), chunk({}, 'tool_calls')),
  ])
  const indexes = chunks.flatMap((one) => one.choices[0]?.delta.tool_calls?.map((call) => call.index) ?? [])
  assert.equal(indexes, [0, 1])
})

test('arguments in an object become text', () => {
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: { a: 1 } } }
  const chunks = decode(openai, request, [
    events(chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls')),
  ])
  assert.is(chunks[0]!.choices[0]!.delta.tool_calls![0]!.function!.arguments, '{"a":1}')
})

test('a choice that never finishes makes the stream incomplete though another finished', () => {
  const second = {
    ...chunk({}),
    choices: [{ index: 1, delta: { role: 'assistant', content: 'b' }, finish_reason: null }],
  }
  const decoder = openai.createStreamReader()
  assert.throws(() => decoder.push(events(chunk({ role: 'assistant', content: 'a' }, 'stop'), second)), /broke off/)
  assert.not(decoder.complete)
})

test('events after the end are ignored', () => {
  const bytes = Buffer.concat([
    events(chunk({ role: 'assistant', content: 'a' }, 'stop')),
    Buffer.from('data: {"error":{"message":"x"}}\n\n'),
  ])
  assert.is(decode(openai, request, [bytes]).length, 1)
})

test('a legacy function call is a tool call', () => {
  const message = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }
  const reply = openai.readResponse({ choices: [{ index: 0, message, finish_reason: 'function_call' }] })
  assert.is(reply.choices[0]!.finish_reason, 'tool_calls')
  assert.is(reply.choices[0]!.message.tool_calls![0]!.function.name, 'f')
})

test('numbers that a service writes as text are numbers', () => {
  const usage = { prompt_tokens: '3', completion_tokens: '4', total_tokens: '7' }
  const told = { id: 'a', object: 'chat.completion.chunk', created: '1', model: 'm' }
  const first = { ...told, choices: [{ index: '1', delta: { content: 'b' }, finish_reason: 'length' }] }
  const second = { ...told, choices: [{ index: '0', delta: { content: 'a' }, finish_reason: 'stop' }] }
  const bytes = Buffer.from(
    [first, second, { ...told, choices: [], usage }].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') +
      'data:  [DONE] \n\n',
  )
  const reply = collectReply(decode(openai, { model: 'm', messages: [hi] }, [bytes]))
  assert.equal(
    reply.choices.map(({ message, finish_reason: reason }) => [message.content, reason]),
    [
      ['a', 'stop'],
      ['b', 'length'],
    ],
  )
  assert.equal(reply.usage, { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
})

test.run()
