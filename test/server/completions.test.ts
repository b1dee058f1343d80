import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { failureOf } from '../helpers/program/client-libraries.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { openKeyDaemon, withKeyDaemon } from './key-daemon.ts'

const test = suite('the older endpoints of OpenAI')

/** Answers with the question. */
const echoing: Answer = (request, response) => {
  const { messages, stream } = JSON.parse(request.body)
  const text = `On ${messages.at(-1).content}`
  if (!stream) return json(response, 200, completion(text))
  const events = completionEvents(text.split(/(?<= )/))
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const count = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [], usage })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end([...events.slice(0, -1), count, events.at(-1)].join(''))
}

test('a completion is a chat with one message, whole and streamed', async () => {
  await using daemon = await openKeyDaemon({ provider: echoing })
  const { url, ada, provider } = daemon
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token, maxRetries: 0 })
  const whole = await openai.completions.create({
    model: 'm-one',
    prompt: 'rain',
    max_tokens: 9,
    echo: false,
    n: 1,
    logprobs: null,
  })
  assert.equal([whole.object, whole.id, whole.usage?.total_tokens], ['text_completion', 'cmpl-1', 7])
  assert.equal(whole.choices, [{ text: 'On rain', index: 0, logprobs: null, finish_reason: 'stop' }])
  const sent = JSON.parse(provider.received[0]!.body)
  assert.equal(sent.messages, [{ role: 'user', content: 'rain' }])
  assert.is(sent.max_tokens ?? sent.max_completion_tokens, 9)
  assert.equal([sent.prompt, sent.echo, sent.logprobs, sent.n], [undefined, undefined, undefined, undefined])
  const stream = await openai.completions.create({
    model: 'm-one',
    prompt: ['rain'],
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  assert.is(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), 'On rain')
  assert.ok(chunks.every(({ object }) => object === 'text_completion'))
  assert.is(chunks.at(-2)!.choices[0]!.finish_reason, 'stop')
  assert.equal([chunks.at(-1)!.choices, chunks.at(-1)!.usage!.total_tokens], [[], 7])
})

test('a list of prompts has a choice for each, in their order, and the sum of their tokens', async () => {
  await using daemon = await openKeyDaemon({ provider: echoing })
  const { url, ada } = daemon
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token, maxRetries: 0 })
  const prompt = ['rain', 'snow', 'fog']
  const texts = ['On rain', 'On snow', 'On fog']
  const whole = await openai.completions.create({ model: 'm-one', prompt })
  assert.equal(
    pluck(whole.choices, 'text', 'index'),
    texts.map((text, index) => [text, index]),
  )
  assert.is(whole.usage!.total_tokens, 21)
  const stream_options = { include_usage: true }
  const streamed = ['', '', '']
  let total: number | undefined
  const ids = new Set<string>()
  for await (const { id, choices, usage } of await openai.completions.create({
    model: 'm-one',
    prompt,
    stream: true,
    stream_options,
  })) {
    for (const { index, text } of choices) streamed[index] += text
    total = usage?.total_tokens ?? total
    ids.add(id)
  }
  assert.equal([streamed, total, ids.size], [texts, 21, 1])
})

test('what only a model for texts can do is refused by name, and asks nobody', async () => {
  await using daemon = await openKeyDaemon({ provider: echoing })
  const { call, ada, provider } = daemon
  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ suffix: 'end' }, /suffix is not supported/],
    [{ echo: true }, /echo is not supported/],
    [{ n: 2 }, /n is not supported/],
    [{ best_of: 3 }, /best_of is not supported/],
    [{ logprobs: 0 }, /logprobs is not supported/],
    [{ tools: [] }, /tools is a field of \/v1\/chat\/completions/],
    [{ prompt: [1, 2] }, /lists of tokens are not read/],
    [{ prompt: [[1], [2]] }, /lists of tokens are not read/],
    [{ prompt: '' }, /prompt must be a text/],
    [{ prompt: [] }, /prompt must be a text/],
    [{ prompt: undefined }, /prompt must be a text/],
    [{ prompt: Array(21).fill('x') }, /at most 20 texts/],
  ]
  for (const [more, words] of refusals) {
    const answer = await call('POST', '/v1/completions', {
      token: ada.token,
      body: { model: 'm-one', prompt: 'x', ...more },
    })
    assert.equal([answer.status, answer.body.error.type], [400, 'invalid_request_error'], JSON.stringify(more))
    assert.match(answer.body.error.message, words)
  }
  assert.is(provider.received.length, 0)
})

test('a failure is OpenAI’s, also where a later prompt fails in the stream', async () => {
  await using daemon = await openKeyDaemon({
    second: (request, response) =>
      request.body.includes('"bad"')
        ? json(response, 400, { error: { message: 'no such thing', type: 'invalid_request_error' } })
        : echoing(request, response),
  })
  const { url, ada } = daemon
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token, maxRetries: 0 })
  const body = { model: 'second:m-two', prompt: ['rain', 'bad'] }
  assert.instance(await failureOf(() => openai.completions.create(body)), OpenAI.BadRequestError)
  let text = ''
  const failure = await failureOf(async () => {
    for await (const chunk of await openai.completions.create({ ...body, stream: true }))
      text += chunk.choices[0]?.text ?? ''
  })
  assert.equal([text, failure instanceof OpenAI.APIError], ['On rain', true])
})

test('a persona completes too, and remembers', async () => {
  await using daemon = await openKeyDaemon({ provider: echoing })
  const { url, ada, call } = daemon
  const body = { name: 'Ada', model: 'm-one', memory_settings: { enabled: true } }
  const { id } = (await call('POST', '/api/personas', { token: ada.token, body })).body
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token, maxRetries: 0 })
  const told = 'My sister is a physician in Zurich.'
  assert.is((await openai.completions.create({ model: 'persona:Ada', prompt: told })).model, 'persona:Ada')
  const { memories } = (await call('GET', `/api/personas/${id}/memory`, { token: ada.token })).body
  assert.ok(memories.some(({ content }: { content: string }) => content === told))
})

test('moderations are refused once', () =>
  withKeyDaemon(async ({ url, ada }) => {
    let asked = 0
    const counting: typeof fetch = (...request) => {
      asked++
      return fetch(...request)
    }
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token, fetch: counting })
    const failure = await failureOf(() => openai.moderations.create({ input: 'x' }))
    assert.instance(failure, OpenAI.NotFoundError)
    assert.match(failure.message, /Moderations are not offered here/)
    assert.is(asked, 1)
  }))

test('models have a time: of their plugin’s list, else of the installation', () =>
  withKeyDaemon(async ({ url, ada, call, installation }) => {
    const { plugins } = installation.app
    await plugins.revise('second', (plugin) => ({ ...plugin, models_as_of: '2026-08' }))
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: ada.token })
    assert.is((await openai.models.retrieve('second:m-two')).created, Date.parse('2026-08') / 1000)
    const { created } = await openai.models.retrieve('m-one')
    assert.ok(created <= Date.now() / 1000 && created > Date.now() / 1000 - 3600, String(created))
    const anthropic = await call('GET', '/v1/models/second:m-two', {
      token: ada.token,
      headers: { 'anthropic-version': '2023-06-01' },
    })
    assert.is(anthropic.body.created_at, '2026-08-01T00:00:00.000Z')
  }))

test.run()
