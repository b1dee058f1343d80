import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { endpoints, failureOf, openLibraries, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('Anthropic’s library and what it sends beyond plain messages')

const ask = { model: 'custom-model', max_tokens: 99 }

/** Calls the tool for the first question and answers with its result. */
const toolProvider: Answer = (request, response) => {
  const { messages } = JSON.parse(request.body)
  const last = messages.at(-1)
  if (last.role === 'tool') return json(response, 200, completion(`It is ${last.content} there.`, 'custom-model'))
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  json(response, 200, { ...completion(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
}

test('a tool runner threads by default, and the model sees the whole conversation all the same', () =>
  withLibraries(toolProvider, async ({ anthropic, provider }) => {
    const weather = betaTool({
      name: 'weather',
      description: 'The weather of a city',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => `sunny in ${city}`,
    })
    const runner = anthropic.beta.messages.toolRunner({
      ...ask,
      system: 'Be kind.',
      messages: [{ role: 'user', content: 'Weather in Paris?' }],
      tools: [weather],
    })
    const final = await runner.runUntilDone()
    assert.equal(
      final.content.map((block) => (block.type === 'text' ? block.text : block.type)),
      ['It is sunny in Paris there.'],
    )
    assert.is(provider.received.length, 2)
    const { messages, tools } = JSON.parse(provider.received[1]!.body)
    assert.equal(pluck(messages, 'role'), ['system', 'user', 'assistant', 'tool'])
    assert.is(tools.length, 1)
  }))

test('a thread that may go on unthreaded sends everything with each turn', async () => {
  await using libraries = await openLibraries((request, response) =>
    json(response, 200, completion(`heard ${JSON.parse(request.body).messages.length}`, 'custom-model')),
  )
  const { anthropic, provider } = libraries
  const thread = anthropic.beta.messages.thread({
    ...ask,
    system: 'Be kind.',
    messages: [{ role: 'user', content: 'One' }],
    unsupportedRequestBehavior: 'continue_unthreaded',
  })
  await thread.send()
  await thread.send([{ role: 'user', content: 'Two' }])
  const { messages } = JSON.parse(provider.received.at(-1)!.body)
  assert.equal(pluck(messages, 'content'), ['Be kind.', 'One', 'heard 2', 'Two'])
})

test('a thread is refused in the words that the library knows; none is asked for with null', async () => {
  await using libraries = await openLibraries((_request, response) =>
    json(response, 200, completion('Hello', 'custom-model')),
  )
  const { url, provider } = libraries
  const post = async (thread: unknown, path = '') => {
    const response = await fetch(`${url}/v1/messages${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-beta': 'message-threads-2026-08-12' },
      body: JSON.stringify({ ...ask, messages: [{ role: 'user', content: 'Hi' }], thread }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'm' }, 'x', false]) {
    const { status, body } = await post(thread)
    assert.is(status, 400)
    assert.is(body['type'], 'error')
    const error = body['error'] as Record<string, unknown>
    assert.is(error['type'], 'invalid_request_error')
    assert.equal(error['details'], { error_code: 'thread_unsupported_request', unsupported: ['thread'] })
  }
  assert.is((await post({ type: 'create' }, '/count_tokens')).status, 400)
  assert.is(provider.received.length, 0)
  assert.is((await post(null)).status, 200)
})

const hello = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'custom-model',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

test('the betas of a client go to an Anthropic provider with the fields that need them', async () => {
  await using libraries = await openLibraries((_request, response) => json(response, 200, hello), {
    plugin: { api: 'anthropic-messages', headers: { 'anthropic-beta': 'of-the-plugin-2026' } },
  })
  const { anthropic, provider } = libraries
  const edits = { edits: [{ type: 'clear_tool_uses_20250919' as const }] }
  await anthropic.beta.messages.create({
    ...ask,
    messages: [{ role: 'user', content: 'Hi' }],
    betas: ['context-management-2025-06-27'],
    context_management: edits,
    ...{ field_of_tomorrow: { on: true } },
  })
  const [{ headers, body }] = provider.received as unknown as [{ headers: Record<string, string>; body: string }]
  assert.equal(headers['anthropic-beta']!.split(','), ['context-management-2025-06-27', 'of-the-plugin-2026'])
  assert.is(headers['anthropic-version'], '2023-06-01')
  const sent = JSON.parse(body)
  assert.equal(sent.context_management, edits)
  assert.equal(sent.field_of_tomorrow, { on: true })
  assert.is(sent.betas, undefined)
})

test('towards another dialect betas and their fields are left out, and the answer says so', async () => {
  await using libraries = await openLibraries((_request, response) =>
    json(response, 200, completion('Hello', 'custom-model')),
  )
  const { anthropic, provider } = libraries
  const { response } = await anthropic.beta.messages
    .create({
      ...ask,
      messages: [{ role: 'user', content: 'Hi' }],
      betas: ['context-management-2025-06-27'],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    })
    .withResponse()
  const warnings = response.headers.get('x-aichat-warnings')!
  assert.match(warnings, /context_management/)
  assert.match(warnings, /the beta context-management-2025-06-27/)
  const [received] = provider.received
  assert.is(received!.headers['anthropic-beta'], undefined)
  assert.is(JSON.parse(received!.body).context_management, undefined)
})

test('Anthropic’s fields that its provider refuses without their beta come back as its own refusal', async () => {
  await using libraries = await openLibraries(
    (_request, response) => {
      const message = 'context_management: Extra inputs are not permitted'
      json(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } })
    },
    { plugin: { api: 'anthropic-messages' } },
  )
  const { anthropic, provider } = libraries
  const failure = await failureOf(() =>
    anthropic.messages.create({
      ...ask,
      messages: [{ role: 'user', content: 'Hi' }],
      ...{ context_management: { edits: [] } },
    }),
  )
  assert.instance(failure, Anthropic.BadRequestError)
  assert.match(failure.message, /Extra inputs are not permitted/)
  assert.is(provider.received.length, 1)
  assert.is(provider.received[0]!.url, endpoints['anthropic-messages'])
})

test.run()
