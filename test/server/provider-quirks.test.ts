import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import {
  type DialectId,
  eventStream,
  failureOf,
  namedStream,
  openLibraries,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what providers say in their own way, as client libraries hear it')

const ask = { model: 'custom-model', messages: [{ role: 'user' as const, content: 'Hi' }] }
const details = { type: 'refusal', category: 'bio', explanation: 'This could help to make a weapon.' }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [],
  stop_reason: 'refusal',
  stop_sequence: null,
  stop_details: details,
  usage: { input_tokens: 3, output_tokens: 1 },
}

test('why Anthropic refused is the refusal of OpenAI’s message, and stays beside the answer for its own clients', async () => {
  await using libraries = await openLibraries((_request, response) => json(response, 200, message), {
    plugin: { api: 'anthropic-messages' },
  })
  const { openai, anthropic } = libraries
  const [choice] = (await openai.chat.completions.create(ask)).choices
  assert.is(choice!.message.refusal, details.explanation)
  assert.equal([choice!.message.content, choice!.finish_reason], [null, 'content_filter'])
  const own = await anthropic.messages.create({ ...ask, max_tokens: 9 })
  assert.equal(own.content, [])
  assert.equal(own.stop_details, details)
})

test('the same in a stream', () => {
  const answer = namedStream([
    { type: 'message_start', message: { ...message, stop_reason: null, stop_details: null } },
    { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: details }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ])
  return withLibraries(
    answer,
    async ({ openai, anthropic }) => {
      const final = await openai.chat.completions.stream(ask).finalChatCompletion()
      assert.is(final.choices[0]!.message.refusal, details.explanation)
      const own = await anthropic.messages.stream({ ...ask, max_tokens: 9 }).finalMessage()
      assert.equal(own.content, [])
      assert.is(own.stop_reason, 'refusal')
      assert.equal(own.stop_details, details)
    },
    { plugin: { api: 'anthropic-messages' } },
  )
})

const malformed = {
  candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(weather(' }],
  usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
}

for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'OTHER'])
  test(`Gemini’s ${finishReason} is an error to Anthropic’s clients, whole and streamed`, () => {
    const body = { ...malformed, candidates: [{ ...malformed.candidates[0], finishReason }] }
    const answer: Answer = (request, response) =>
      /stream/.test(request.url) ? eventStream([body])(request, response) : json(response, 200, body)
    return withLibraries(
      answer,
      async ({ anthropic }) => {
        const whole = await failureOf(() => anthropic.messages.create({ ...ask, max_tokens: 9 }))
        assert.is(whole['status'], 502)
        assert.match(whole.message, new RegExp(`${finishReason}: print`))
        const streamed = await failureOf(() => anthropic.messages.stream({ ...ask, max_tokens: 9 }).finalMessage())
        assert.instance(streamed, Anthropic.APIError)
        assert.match(streamed.message, new RegExp(finishReason))
      },
      { plugin: { api: 'gemini' }, maxRetries: 0 },
    )
  })

test('an answer that names no model carries the one that was asked, whole and streamed', async () => {
  const candidate = { content: { parts: [{ text: 'Hello' }], role: 'model' }, finishReason: 'STOP' }
  const { model: _none, ...nameless } = completion('Hello')
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, choices: [] as unknown[] }
  const delta = { index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
  const answers: Partial<Record<DialectId, Answer>> = {
    gemini: (request, response) =>
      /stream/.test(request.url)
        ? eventStream([{ candidates: [candidate] }])(request, response)
        : json(response, 200, { candidates: [candidate] }),
    'openai-chat': (request, response) =>
      JSON.parse(request.body).stream
        ? eventStream([{ ...chunk, choices: [delta] }, '[DONE]'])(request, response)
        : json(response, 200, nameless),
  }
  for (const [api, answer] of Object.entries(answers))
    await withLibraries(
      answer,
      async ({ openai }) => {
        assert.is((await openai.chat.completions.create(ask)).model, 'custom-model', api)
        for await (const { model } of await openai.chat.completions.create({ ...ask, stream: true }))
          assert.is(model, 'custom-model', api)
      },
      { plugin: { api } },
    )
})

const failedCall: Anthropic.MessageParam[] = [
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'no such city' }] },
]

const said: Record<DialectId, (body: ReturnType<typeof JSON.parse>) => unknown> = {
  'openai-chat': ({ messages }) => messages.at(-1).content,
  'openai-responses': ({ input }) => input.at(-1).output,
  'anthropic-messages': ({ messages }) => messages.at(-1).content[0].is_error,
  gemini: ({ contents }) => contents.at(-1).parts[0].functionResponse.response,
  ollama: ({ messages }) => messages.at(-1).content,
}

const expected: Record<DialectId, unknown> = {
  'openai-chat': 'Error: no such city',
  'openai-responses': 'Error: no such city',
  'anthropic-messages': true,
  gemini: { error: 'no such city' },
  ollama: 'Error: no such city',
}

for (const [api, read] of Object.entries(said))
  test(`that a tool failed is said to a provider of ${api}`, () =>
    withLibraries(
      (_request, response) => json(response, 400, { error: { message: 'enough' } }),
      async ({ anthropic, provider }) => {
        await failureOf(() => anthropic.messages.create({ model: 'custom-model', max_tokens: 9, messages: failedCall }))
        assert.equal(read(JSON.parse(provider.received[0]!.body)), expected[api as DialectId])
      },
      { plugin: { api } },
    ))

/** A PNG with this size in its header; the rest is noise of the given length. */
const picture = (width: number, height: number, bytes: number) => {
  const header = Buffer.alloc(33)
  header.writeUInt32BE(0x89504e47, 0)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return Buffer.concat([header, Buffer.alloc(bytes, 7)]).toString('base64')
}

test('a picture is counted by its size, not by the length of its bytes', async () => {
  await using libraries = await openLibraries((_request, response) => json(response, 500, {}))
  const { anthropic, provider } = libraries
  const count = async (source: Anthropic.ImageBlockParam['source'] | undefined) => {
    const image = source ? [{ type: 'image' as const, source }] : []
    const { input_tokens } = await anthropic.messages.countTokens({
      model: 'custom-model',
      messages: [{ role: 'user', content: [...image, { type: 'text', text: 'What is this?' }] }],
    })
    return input_tokens
  }
  const png = (data: string) => ({ type: 'base64' as const, media_type: 'image/png' as const, data })
  const bare = await count(undefined)
  // 200 × 200 ÷ 750, however many bytes it has.
  assert.is((await count(png(picture(200, 200, 10)))) - bare, 54)
  assert.is((await count(png(picture(200, 200, 900_000)))) - bare, 54)
  // Shrunk to 1,568 pixels, and never more than 1,600 tokens.
  assert.is((await count(png(picture(3136, 100, 10)))) - bare, 105)
  assert.is((await count(png(picture(8000, 8000, 10)))) - bare, 1600)
  assert.is((await count({ type: 'url', url: 'https://example.org/a.png' })) - bare, 1600)
  assert.is(provider.received.length, 0)
})

const models = ['a/one', 'b/two:free', 'three', 'four', 'five']

test('Anthropic’s client lists models in pages and fetches one, whose name may hold a slash', async () => {
  await using libraries = await openLibraries((_request, response) => json(response, 500, {}), {
    plugin: { model_map: models, models: { 'a/one': { context_window: 9000 } } },
  })
  const { anthropic, openai, url } = libraries
  const all = []
  for await (const model of anthropic.models.list({ limit: 2 })) all.push(model)
  assert.equal(pluck(all, 'id'), models)
  assert.equal(Object.keys(all[0]!).sort(), [
    ...['capabilities', 'created_at', 'display_name', 'id', 'max_input_tokens', 'max_tokens', 'type'],
  ])
  assert.equal([all[0]!.max_input_tokens, all[1]!.max_input_tokens], [9000, null])
  const back = await anthropic.models.list({ limit: 2, before_id: 'five' })
  assert.equal(pluck(back.data, 'id'), ['three', 'four'])
  assert.is(back.has_more, true)
  const last = await anthropic.models.list({ after_id: 'five' })
  assert.equal([last.data, last.has_more, last.first_id, last.last_id], [[], false, null, null])
  assert.is((await anthropic.models.retrieve('a/one')).type, 'model')
  assert.is((await openai.models.retrieve('b/two:free')).object, 'model')
  const plain = await fetch(`${url}/v1/models/a/one`)
  assert.is(((await plain.json()) as { id: string }).id, 'a/one')
  const ids = []
  for await (const model of openai.models.list()) ids.push(model.id)
  assert.equal(ids, models)
  const rows = ((await (await fetch(`${url}/api/chat/models`)).json()) as { models: unknown[] }).models
  assert.equal(rows.slice(0, 2), [
    { id: 'a/one', plugin: 'custom', context_window: 9000 },
    { id: 'b/two:free', plugin: 'custom' },
  ])
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after_id=none', 'before_id=none']) {
    const response = await fetch(`${url}/v1/models?${query}`, { headers: { 'anthropic-version': '2023-06-01' } })
    assert.is(response.status, 400, query)
    assert.is(((await response.json()) as { type: string }).type, 'error')
  }
  assert.instance(await failureOf(() => anthropic.models.retrieve('x/none')), Anthropic.NotFoundError)
  assert.instance(await failureOf(() => openai.models.retrieve('x/none')), OpenAI.NotFoundError)
})

test('an unknown address under /v1/ is refused in the words of its client, and names what there is', async () => {
  await using libraries = await openLibraries((_request, response) => json(response, 500, {}))
  const { anthropic, openai, url } = libraries
  const batches = await failureOf(() => anthropic.messages.batches.list())
  assert.instance(batches, Anthropic.NotFoundError)
  assert.is((batches['error'] as { error: { type: string } }).error.type, 'not_found_error')
  assert.match(batches.message, /POST \/v1\/messages\/count_tokens/)
  const files = await failureOf(() => openai.files.list())
  assert.instance(files, OpenAI.NotFoundError)
  assert.match(files.message, /POST \/v1\/chat\/completions.+GET \/v1\/models\/:id/)
  const wrong = await fetch(`${url}/v1/messages`)
  assert.equal([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
  assert.match(JSON.stringify(await wrong.json()), /^\{"type":"error","error":\{"type":"invalid_request_error".+POST/)
  const other = await fetch(`${url}/v1/chat/completions`)
  assert.is(other.status, 405)
  assert.match(JSON.stringify(await other.json()), /"error":\{"message":"Method not allowed .+POST/)
  const house = await fetch(`${url}/api/nothing`)
  assert.is(((await house.json()) as { error: string }).error, 'Not found')
})

test.run()
