import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { dialects } from '../../../src/chat/dialects/dialects.ts'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import { responses } from '../../../src/chat/dialects/responses/dialect.ts'
import { forPlace, fromClient } from '../../../src/chat/dialects/responses/placement.ts'
import { writeResponses } from '../../../src/chat/dialects/responses/response.ts'
import { createStreamWriter } from '../../../src/chat/dialects/responses/stream-writer.ts'
import { chunksOf, collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ChatReply, ChatRequest, Message } from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { decode } from '../../helpers/chat/exchange-checks.ts'
import { checkGrammar, eventsOf } from '../../helpers/chat/responses-grammar.ts'
import { suite } from '../../helpers/suite.ts'
import { leftOutOf } from '../left-out.ts'

const test = suite('the Responses dialect')
const endpoint = 'https://api.example.org/v1/chat/completions'

const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Changes files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
}
const files = {
  type: 'namespace',
  name: 'files',
  description: 'Files of the project.',
  tools: [
    { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
    { type: 'function', name: 'list', parameters: { type: 'object', properties: {} }, strict: false },
  ],
}
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: true }

const ask = (fields: object) => responses.readRequest({ model: 'm', input: 'hi', ...fields })

function problemsOf(fields: object): string {
  try {
    ask(fields)
    return ''
  } catch (error) {
    assert.instance(error, AppError)
    assert.is((error as AppError).code, 'invalid')
    return (error as AppError).details.join('; ')
  }
}

function replyWith(message: Partial<Message>): ChatReply {
  return {
    id: 'a',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'tool_calls' }],
  }
}

const call = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args },
})

test('a namespace is its functions, a custom tool a function with one text and its grammar in words', () => {
  const { tools } = openai.writeRequest(ask({ tools: [weather, files, patch] }), endpoint).body as {
    tools: { function: { name: string; description?: string; parameters: object } }[]
  }
  assert.equal(
    tools.map((tool) => tool.function.name),
    ['weather', 'files__read', 'files__list', 'apply_patch'],
  )
  const { description, parameters } = tools.at(-1)!.function
  assert.match(description!, 'lark grammar:\nstart: /.+/')
  assert.equal((parameters as { required: string[] }).required, ['input'])
  assert.not.match(JSON.stringify(tools), 'extra_content')
})

test('calls go back under the names that the client declared, whole and streamed', () => {
  const request = ask({ tools: [files, patch] })
  const input = '*** Begin "Patch"\n+世界\n'
  const reply = replyWith({
    tool_calls: [
      call('c1', 'files__read', '{"path":"a"}'),
      call('c2', 'apply_patch', JSON.stringify({ input })),
      call('c3', 'other', ''),
    ],
  })
  const expected = [
    {
      type: 'function_call',
      status: 'completed',
      call_id: 'c1',
      name: 'read',
      namespace: 'files',
      arguments: '{"path":"a"}',
    },
    { type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'apply_patch', input },
    { type: 'function_call', status: 'completed', call_id: 'c3', name: 'other', arguments: '{}' },
  ]
  const withoutIds = (items: readonly Record<string, unknown>[]) => items.map(({ id: _id, ...item }) => item)
  const whole = responses.writeResponse(reply, request)
  assert.equal(withoutIds(whole['output'] as Record<string, unknown>[]), expected)

  const writer = responses.createStreamWriter(request)
  const outline = { id: 'a', object: 'chat.completion.chunk' as const, created: 1, model: 'm' }
  let text = ''
  for (const [index, each] of reply.choices[0]!.message.tool_calls!.entries())
    for (const [at, piece] of [...each.function.arguments.matchAll(/[\s\S]{1,4}/g), ['']].entries()) {
      const first = at === 0 ? { id: each.id, type: 'function' as const } : {}
      const name = at === 0 ? { name: each.function.name } : {}
      const delta = { tool_calls: [{ index, ...first, function: { ...name, arguments: piece[0]! } }] }
      text += writer.push({ ...outline, choices: [{ index: 0, delta, finish_reason: null }] })
    }
  const response = checkGrammar(eventsOf(text + writer.end()))
  assert.equal(withoutIds(response.output), expected)
})

test('the items of a turn are one message, with its outputs straight behind it, in whatever order they came', () => {
  const { messages } = ask({
    input: [
      { role: 'user', content: 'Do both' },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'a', name: 'one', arguments: '' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Moment' }] },
      { type: 'function_call', call_id: 'b', name: 'two', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'b', output: 'second' },
      { role: 'user', content: 'And?' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'first' }] },
      { role: 'assistant', content: 'Done' },
      { type: 'reasoning', summary: [], encrypted_content: 'of the last' },
      { role: 'assistant', content: 'Really' },
    ],
  })
  assert.match(JSON.stringify(messages.at(-1)), 'of the last')
  const outline = messages.map(({ role, content, tool_call_id: id, tool_calls: calls }) => [
    role,
    content,
    id ?? calls?.map((each) => each.id),
  ])
  assert.equal(outline, [
    ['user', 'Do both', undefined],
    ['assistant', 'Moment', ['a', 'b']],
    ['tool', 'first', 'a'],
    ['tool', 'second', 'b'],
    ['user', 'And?', undefined],
    ['assistant', 'Done', undefined],
    ['assistant', 'Really', undefined],
  ])
})

test('items that make no sense are refused, all at once and by name', () => {
  const output = { type: 'function_call_output', call_id: 'call_x', output: 'y' }
  assert.match(problemsOf({ input: [{ role: 'user', content: 'x' }, output] }), /input\[1\]\.call_id .*call_x/)
  assert.is(problemsOf({ input: [output], previous_response_id: 'resp_1' }), '')
  const problems = problemsOf({
    input: [{ role: 'robot', content: 5 }, { type: 'function_call' }, { type: 'function_call_output', output: 5 }, {}],
    tools: [{ type: 'function' }, 5, { type: 'namespace', name: 'n' }],
    tool_choice: 5,
    text: 'json',
    max_output_tokens: 'many',
  })
  for (const path of [
    ...['input[0].role', 'input[0].content', 'input[1].call_id', 'input[1].name', 'input[1].arguments'],
    ...['input[2].call_id', 'input[2].output', 'input[3].type', 'tools[0].name', 'tools[1]', 'tools[2].tools'],
    ...['tool_choice', 'text', 'max_output_tokens'],
  ])
    assert.match(problems, path)
  const tools = Array.from({ length: 1001 }, () => weather)
  assert.match(problemsOf({ tools }), /tools must hold at most 1000/)
  assert.is(problemsOf({ tools: tools.slice(1) }), '')
  assert.not.match(problemsOf({ input: 5, tools: tools.slice(1) }), /tools must hold/)
  assert.match(problemsOf({ input: 5 }), /input must be/)
})

test('hosted tools go to a provider of this dialect unchanged, and are named for every other', () => {
  const hosted = [
    { type: 'web_search', search_context_size: 'low' },
    { type: 'mcp', server_label: 'docs', server_url: 'https://example.org' },
  ]
  const request = ask({ tools: [...hosted, weather], tool_choice: 'auto' })
  assert.equal((responses.writeRequest(request, endpoint).body['tools'] as object[]).slice(0, 2), hosted)
  assert.equal(leftOutOf(request, 'openai-responses'), [])
  for (const { id } of dialects.filter((dialect) => dialect !== responses))
    assert.match(leftOutOf(request, id).join(), /the tool web_search, the tool mcp: left out/, id)
})

test('a hosted tool that is forced is refused where nobody can run it', () => {
  const hosted = [{ type: 'web_search' }]
  const refuse = (fields: object) => () =>
    forPlace(ask({ tools: hosted, ...fields }), 'anthropic-messages', endpoint, () => undefined)
  assert.throws(refuse({ tool_choice: { type: 'web_search' } }), /forces web_search/)
  assert.throws(refuse({ tool_choice: 'required' }), /forces a hosted tool/)
  assert.throws(refuse({ tool_choice: { type: 'allowed_tools', mode: 'required', tools: hosted } }), /forces/)
  assert.not.throws(refuse({ tool_choice: 'auto' }))
  assert.not.throws(refuse({ tools: [...hosted, weather], tool_choice: 'required' }))
  const own = forPlace(
    ask({ tools: hosted, tool_choice: { type: 'web_search' } }),
    'openai-responses',
    endpoint,
    () => undefined,
  )
  assert.equal(responses.writeRequest(own, endpoint).body['tool_choice'], { type: 'web_search' })
})

test('fields of chats go to their places and back', () => {
  const format = { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true }
  const fields = {
    instructions: 'Be brief.',
    max_output_tokens: 50,
    temperature: 0.5,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { verbosity: 'low', format },
    tools: [files, patch, weather],
    tool_choice: { type: 'custom', name: 'apply_patch' },
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    truncation: 'auto',
    store: false,
    include: ['reasoning.encrypted_content'],
  }
  const request = ask(fields)
  assert.equal([request.max_tokens, request.reasoning_effort], [50, 'low'])
  assert.equal(request.messages[0]?.content, 'Be brief.')
  assert.equal(request.response_format, {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { type: 'object' }, strict: true },
  })
  assert.equal(request.tool_choice, { type: 'function', function: { name: 'apply_patch' } })
  assert.equal(JSON.parse(JSON.stringify(responses.writeRequest(request, endpoint).body)), {
    model: 'm',
    input: [{ role: 'user', content: 'hi' }],
    ...fields,
  })
  const echoed = responses.writeResponse(replyWith({ content: 'x' }), request)
  const { include: _include, ...repeated } = fields
  for (const [name, value] of Object.entries(repeated)) assert.equal(echoed[name], value, name)
})

test('only OpenAI itself is told the fields and the role that other chats refuse', () => {
  const request = ask({
    prompt_cache_key: 'k',
    safety_identifier: 's',
    text: { verbosity: 'low' },
    tool_choice: 'auto',
    parallel_tool_calls: true,
  })
  const sentTo = (host: string) => {
    const url = `https://${host}/v1/chat/completions`
    return Object.keys(
      openai.writeRequest(
        forPlace(request, 'openai-chat', url, () => undefined),
        url,
      ).body,
    ).sort()
  }
  const instructed = ask({ input: [{ role: 'developer', content: 'x' }] })
  const roleFor = (url: string) => forPlace(instructed, 'openai-chat', url, () => undefined).messages[0]?.role
  assert.equal([roleFor(endpoint), roleFor('https://api.openai.com/v1')], ['system', 'developer'])
  assert.equal(sentTo('api.groq.com'), ['messages', 'model'])
  assert.equal(sentTo('api.openai.com'), ['messages', 'model', 'prompt_cache_key', 'safety_identifier', 'verbosity'])
})

test('a request of another dialect keeps nothing at the provider, and its tools are not made strict', () => {
  const asked: ChatRequest = {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', function: { name: 'f' } }],
  }
  const { body } = responses.writeRequest(asked, endpoint)
  assert.is(body['store'], false)
  assert.equal(body['include'], ['reasoning.encrypted_content'])
  assert.equal(body['tools'], [
    { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
  ])
})

test('the encrypted reasoning of a provider comes back to it through a client of chat completions', () => {
  const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
  const fields = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' }
  const called = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' }
  const reply = responses.readResponse({ ...fields, output: [item, called] })
  const { message } = (openai.writeResponse(reply)['choices'] as { message: Message }[])[0]!
  const again = openai.readRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      JSON.parse(JSON.stringify(message)),
      { role: 'tool', tool_call_id: 'c', content: 'y' },
    ],
  })
  const input = responses.writeRequest(again, endpoint).body['input'] as object[]
  assert.equal(input[1], { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' })
  assert.not.match(JSON.stringify(anthropic.writeRequest(again, endpoint).body), 'gAAAA')
})

test('Gemini’s signatures of calls and of texts go back to them, and nothing goes to another place', () => {
  const open = (sealed: string) => (sealed.startsWith('s.') ? JSON.parse(atob(sealed.slice(2))) : undefined)
  const seal = (reasoning: object) => `s.${btoa(JSON.stringify(reasoning))}`
  const request = ask({ store: false })
  const google = (mark: string) => ({ google: { thought_signature: mark } })
  const first = { ...call('c1', 'f'), extra_content: google('one') }
  const answer = { content: 'Moment', extra_content: google('text'), tool_calls: [first, call('c2', 'f')] }
  const writer = createStreamWriter(request, { seal })
  const streamed = chunksOf(replyWith(answer)).map((chunk) => writer.push(chunk))
  const { output } = checkGrammar(eventsOf(streamed.join('') + writer.end()))
  const { shown } = writeResponses(replyWith(answer), request, { seal })
  for (const items of [output, shown['output']]) {
    const outputs = ['c1', 'c2'].map((id) => ({ type: 'function_call_output', call_id: id, output: 'x' }))
    const again = fromClient(ask({ input: [{ role: 'user', content: 'hi' }, ...items, ...outputs] }))
    const [, message] = forPlace(again, 'gemini', endpoint, open).messages
    assert.equal(message?.extra_content?.['google'], google('text').google)
    assert.is(message?.reasoning_content, undefined, 'a signature alone is no thought')
    assert.equal(
      message?.tool_calls?.map((each) => each.extra_content?.['google']),
      [google('one').google, undefined],
    )
    const [, other] = forPlace(again, 'gemini', endpoint, () => undefined).messages
    assert.not.match(JSON.stringify(other), /thought_signature|s\./)
  }
})

test('an answer that is cut off, filtered or broken says so', () => {
  const ending = (finish: 'length' | 'content_filter' | 'error') => {
    const reply = replyWith({ content: 'x' })
    const written = responses.writeResponse({ ...reply, choices: [{ ...reply.choices[0]!, finish_reason: finish }] })
    return [written['status'], written['incomplete_details'], (written['error'] as { code: string } | null)?.code]
  }
  assert.equal(ending('length'), ['incomplete', { reason: 'max_output_tokens' }, undefined])
  assert.equal(ending('content_filter'), ['incomplete', { reason: 'content_filter' }, undefined])
  assert.equal(ending('error'), ['failed', null, 'server_error'])
})

test('token counts have every field, zeros too', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
  assert.equal(responses.writeResponse({ ...replyWith({ content: 'x' }), usage })['usage'], {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  })
})

test('an item that the last event tells again is read once, at whatever place it stands', () => {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
  const thought = (type: string) => ({ type: `response.${type}.delta`, output_index: 3, delta: 'Hm' })
  const events = [
    { type: 'response.output_item.added', output_index: 3, item: { type: 'reasoning', summary: [] } },
    thought('reasoning_text'),
    thought('reasoning_summary_text'),
    { type: 'response.reasoning_summary_text.done', output_index: 3, summary_index: 1, text: 'Another thought' },
    { type: 'response.output_item.added', output_index: 4, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', output_index: 4, delta: 'Hi' },
    { type: 'response.completed', response: { id: 'r', model: 'm', status: 'in_progress', output: [item] } },
  ]
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const [choice] = collectReply(decode(responses, ask({}), [Buffer.from(text)])).choices
  assert.equal(
    [choice?.message.reasoning_content, choice?.message.content, choice?.finish_reason],
    ['Hm', 'Hi', 'stop'],
  )
})

test('a thought that only the end of its part holds is read, be it raw or a summary', () => {
  for (const type of ['reasoning_text', 'reasoning_summary_text']) {
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', summary: [] } },
      { type: `response.${type}.done`, output_index: 0, content_index: 0, text: 'Hm' },
      { type: 'response.completed', response: { id: 'r', model: 'm', status: 'completed', output: [] } },
    ]
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const [choice] = collectReply(decode(responses, ask({}), [Buffer.from(text)])).choices
    assert.is(choice?.message.reasoning_content, 'Hm', type)
  }
})

test('a stream with events unknown to us, with items without places, or without a begin is read', () => {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
  const bytes = [
    { type: 'response.of_tomorrow', delta: 'x' },
    { type: 'keepalive' },
    { type: 'response.output_item.added', item: { ...item, content: [] } },
    { type: 'response.output_text.delta', delta: 'H' },
    { type: 'response.output_text.delta', delta: 'i' },
    { type: 'response.output_item.done', item },
    { type: 'response.completed', response: { id: 'r', model: 'm', output: [item] } },
  ]
  const text = bytes.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const reply = collectReply(decode(responses, ask({}), [Buffer.from(text)]))
  assert.equal([reply.choices[0]?.message.content, reply.choices[0]?.finish_reason], ['Hi', 'stop'])
})

test.run()
