import { request } from 'node:http'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import * as assert from 'uvu/assert'
import type { Message, ReasoningDetail } from '../../src/chat/protocol/messages.ts'
import { checkGrammar, eventsOf } from '../helpers/chat/responses-grammar.ts'
import {
  type DialectId,
  endpoints,
  eventStream,
  failureOf,
  openLibraries,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { providerOf } from './responses-provider.ts'

const test = suite('clients of the Responses API')

const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
}
const thoughts: Record<DialectId, { readonly message: Partial<Message>; readonly sent: RegExp }> = {
  'openai-chat': { message: { reasoning_content: 'I think.' }, sent: /"reasoning_content":"I think\."/ },
  'openai-responses': {
    message: {
      reasoning_details: [detail({ type: 'reasoning.encrypted', data: 'gAAAAB', format: 'openai-responses-v1' })],
    },
    sent: /"type":"reasoning".{0,80}"encrypted_content":"gAAAAB"/,
  },
  'anthropic-messages': {
    message: {
      reasoning_content: 'I think.',
      reasoning_details: [
        detail({ type: 'reasoning.text', text: 'I think.', signature: 'c2ln', format: 'anthropic-claude-v1' }),
      ],
    },
    sent: /"type":"thinking","thinking":"I think\.","signature":"c2ln"/,
  },
  gemini: { message: {}, sent: /"functionCall":\{[^}]*\{[^}]*\}\},"thoughtSignature":"c2ln"/ },
  ollama: { message: { reasoning_content: 'I think.' }, sent: /"thinking":"I think\."/ },
}

function detail(fields: ReasoningDetail): ReasoningDetail {
  return { index: 0, ...fields }
}

const signature = { google: { thought_signature: 'c2ln' } }
const calling = (api: DialectId): Partial<Message> => ({
  ...thoughts[api].message,
  tool_calls: [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Bern"}' },
      ...(api === 'gemini' && { extra_content: signature }),
    },
  ],
})
const answers = (api: DialectId): readonly Partial<Message>[] => [calling(api), { content: 'It rains in Bern.' }]

/** The items of a first answer sent back with the output of its call. */
function goOn(output: readonly object[]): ResponseInput {
  const items = JSON.parse(JSON.stringify(output))
  return [
    { role: 'user', content: 'Weather in Bern?' },
    ...items,
    { type: 'function_call_output', call_id: callIn(items), output: 'rain' },
  ]
}

function callIn(items: readonly { type: string; call_id?: string }[]): string {
  return items.find(({ type }) => type === 'function_call')!.call_id!
}

const first = {
  model: 'custom-model',
  input: 'Weather in Bern?',
  tools: [weather],
  store: false,
  include: ['reasoning.encrypted_content' as const],
}

for (const api of Object.keys(endpoints) as DialectId[]) {
  test(`${api}: OpenAI’s library calls a tool over two turns, and the reasoning goes back to its provider`, () =>
    withLibraries(
      providerOf(api, answers(api)),
      async ({ openai, provider }) => {
        const reply = await openai.responses.create(first)
        assert.is(reply.status, 'completed')
        assert.match(reply.id, /^resp_\w+$/)
        assert.is(reply.usage?.input_tokens, 20)
        const call = reply.output.find(
          ({ type }) => type === 'function_call',
        ) as OpenAI.Responses.ResponseFunctionToolCall
        assert.equal([call.name, JSON.parse(call.arguments)], ['weather', { city: 'Bern' }])
        const last = await openai.responses.create({ ...first, input: goOn(reply.output) })
        assert.is(last.output_text, 'It rains in Bern.')
        assert.match(provider.received.at(-1)!.body, thoughts[api].sent)
      },
      { plugin: { api } },
    ))

  test(`${api}: the same streamed, by the whole grammar`, () =>
    withLibraries(
      providerOf(api, answers(api)),
      async ({ openai, provider, url }) => {
        const reply = await openai.responses.stream(first).finalResponse()
        const last = await openai.responses.stream({ ...first, input: goOn(reply.output) }).finalResponse()
        assert.equal([last.output_text, last.usage?.output_tokens], ['It rains in Bern.', 8])
        assert.match(provider.received.at(-1)!.body, thoughts[api].sent)
        const headers = { authorization: 'Bearer ours', 'content-type': 'application/json' }
        const body = JSON.stringify({ model: 'custom-model', input: 'x', stream: true })
        const raw = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
        assert.is(raw.headers.get('x-aichat-plugin'), 'custom')
        checkGrammar(eventsOf(await raw.text()))
      },
      { plugin: { api } },
    ))

  test(`${api}: no other place, no forged and no foreign text gets the reasoning`, () =>
    withLibraries(
      providerOf(api, [calling(api), { content: 'x' }]),
      async ({ openai, provider, app }) => {
        await app.plugins.install(
          pluginAt(provider.url, {
            id: 'other',
            api,
            endpoint: `${provider.url}${endpoints[api]}`,
            model_map: ['custom-model', 'b'],
          }),
        )
        const { output } = await openai.responses.create(first)
        const forged = (change: (text: string) => string) =>
          output.map((item) =>
            item.type === 'reasoning' ? { ...item, encrypted_content: change(item.encrypted_content!) } : item,
          )
        const asked = async (model: string, items: readonly object[]) => {
          const reply = await openai.responses.create({ ...first, model, input: goOn(items) })
          assert.is(reply.output_text, 'x')
          return provider.received.at(-1)!.body
        }
        assert.match(await asked('custom:custom-model', output), thoughts[api].sent)
        for (const [model, items] of [
          ['other:custom-model', output],
          ['custom:b', output],
          ['custom-model', forged((text) => `${text.slice(0, -4)}AAAA`)],
          ['custom-model', forged(() => 'gAAAAABqhb8lJUadRoeb')],
          ['custom-model', forged(() => 'aichat1.')],
        ] as const) {
          const body = await asked(model, items)
          assert.not.match(body, thoughts[api].sent, model)
          assert.not.match(body, /I think|gAAAA|aichat1|c2ln/, model)
        }
      },
      { plugin: { api } },
    ))
}

test('a client that stores its answers is not sent the sealed reasoning unless it asks for it', async () => {
  await using libraries = await openLibraries(providerOf('anthropic-messages', answers('anthropic-messages')), {
    plugin: { api: 'anthropic-messages' },
  })
  const { openai } = libraries
  const { output } = await openai.responses.create({ model: 'custom-model', input: 'x' })
  const [item] = output
  assert.is(item?.type, 'reasoning')
  assert.not.ok('encrypted_content' in item!)
})

test('tools that only another provider runs are named and left out, and refused where they are forced', () =>
  withLibraries(providerOf('openai-chat', [{ content: 'x' }]), async ({ openai, provider }) => {
    const asked = { model: 'custom-model', input: 'x', tools: [{ type: 'web_search' as const }, weather] }
    const { response } = await openai.responses.create(asked).withResponse()
    assert.match(response.headers.get('x-aichat-warnings')!, /the tool web_search: left out/)
    assert.not.match(provider.received[0]!.body, 'web_search')
    const failure = await failureOf(() =>
      openai.responses.create({ ...asked, tool_choice: { type: 'web_search_preview' } }),
    )
    assert.is(failure['status'], 400)
    assert.match(failure.message, /forces web_search_preview/)
  }))

test('a provider of this API is told what to include, keeps nothing, and its hosted tools are its own', async () => {
  await using libraries = await openLibraries(providerOf('openai-responses', [{ content: 'x' }]), {
    plugin: { api: 'openai-responses' },
  })
  const { openai, provider } = libraries
  const tools = [{ type: 'web_search' as const }]
  await openai.responses.create({
    ...{ model: 'custom-model', input: 'x', tools, tool_choice: { type: 'web_search_preview' as const } },
    include: ['web_search_call.action.sources'],
  })
  const body = JSON.parse(provider.received[0]!.body)
  assert.equal(body.tools, tools)
  assert.equal(body.tool_choice, { type: 'web_search_preview' })
  assert.equal(body.include, ['web_search_call.action.sources', 'reasoning.encrypted_content'])
  assert.is(body.store, false)
  for (const name of ['sealed', 'previous_response_id', 'background']) assert.not.ok(name in body, name)
})

test('a failure before the first piece is a plain error with its status and the code that clients act on', async () => {
  const tooLong = { error: { message: 'prompt is too long: 9 tokens > 8 maximum', type: 'invalid_request_error' } }
  for (const [status, body, headers, expected] of [
    [400, tooLong, {}, [400, 'context_length_exceeded']],
    [
      429,
      { error: { message: 'Slow down', type: 'rate_limit_error' } },
      { 'retry-after': '7' },
      [429, 'rate_limit_exceeded'],
    ],
    [429, { error: { message: 'No credit', code: 'insufficient_quota' } }, {}, [429, 'insufficient_quota']],
    [401, { error: { message: 'bad key' } }, {}, [400, 'provider_auth']],
  ] as const)
    await withLibraries(
      (_request, response) => json(response, status, body, headers),
      async ({ openai }) => {
        for (const stream of [false, true]) {
          const failure = await failureOf(() => openai.responses.create({ model: 'custom-model', input: 'x', stream }))
          assert.equal([failure['status'], failure['code']], expected)
          if (expected[1] === 'rate_limit_exceeded') assert.match(failure.message, /try again in 7s/)
        }
      },
      { maxRetries: 0 },
    )
})

test('a stream that breaks off ends with an error and a response that failed', () => {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'custom-model' }
  const text = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hal' }, finish_reason: null }] }
  return withLibraries(eventStream([text]), async ({ url }) => {
    const headers = { authorization: 'Bearer ours', 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'custom-model', input: 'x', stream: true })
    const response = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
    const last = checkGrammar(eventsOf(await response.text()))
    assert.is(last.status, 'failed')
    assert.match(last.error.message, /broke off and is incomplete/)
  })
})

test('a request that makes no sense is refused with every problem', () =>
  withLibraries(providerOf('openai-chat', [{ content: 'x' }]), async ({ openai, provider }) => {
    const output = { type: 'function_call_output' as const, call_id: 'call_9', output: 'x' }
    const failure = await failureOf(() => openai.responses.create({ model: 'custom-model', input: [output] }))
    assert.instance(failure, OpenAI.BadRequestError)
    assert.match(failure.message, /call_9/)
    const empty = await failureOf(() => openai.responses.create({ model: 'custom-model', input: [] }))
    assert.match(empty.message, /input: must hold at least one item/)
    assert.is(provider.received.length, 0)
  }))

test('a WebSocket is refused at once, so that its client sends POST', () =>
  withLibraries(providerOf('openai-chat', [{ content: 'x' }]), async ({ url }) => {
    const status = await new Promise((resolve, reject) => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AA==',
      }
      const asked = request(`${url}/v1/responses`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on('error', reject)
      asked.on('upgrade', () => reject(new Error('upgraded')))
      asked.end()
    })
    assert.is(status, 426)
  }))

test.run()
