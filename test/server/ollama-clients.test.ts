import { Ollama } from 'ollama'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { failureOf } from '../helpers/program/client-libraries.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, localRunner } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { type KeyDaemon, openKeyDaemon, withKeyDaemon } from './key-daemon.ts'

const test = suite('Ollama’s API for its clients')

const provider: Answer = (request, response) => {
  if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello there', 'm-one-2026'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Hello', ' there'], 'm-one-2026').join(''))
}

function clientOf({ url }: KeyDaemon, token: string): Ollama {
  return new Ollama({ host: `${url}/ollama`, headers: { authorization: `Bearer ${token}` } })
}

const messages = [{ role: 'user', content: 'Hi' }]

test('it says that it runs, in which version, and lists models with a name that has a tag', async () => {
  await using daemon = await openKeyDaemon({ provider, runner: localRunner() })
  const { url, ada, call } = daemon
  for (const path of ['/ollama', '/ollama/']) {
    const response = await fetch(url + path)
    assert.equal([response.status, await response.text()], [200, 'Ollama is running'])
    assert.is((await fetch(url + path, { method: 'HEAD' })).status, 200)
  }
  const ollama = clientOf(daemon, ada.token)
  assert.match((await ollama.version()).version, /^\d+\.\d+\.\d+$/)
  await call('POST', '/api/personas', { token: ada.token, body: { name: 'Ada Lovelace', model: 'm-one' } })
  const { models } = await ollama.list()
  assert.equal(pluck(models, 'name', 'model'), [
    ['m-one', 'm-one:latest'],
    ['m-two', 'm-two:latest'],
    ['second:m-two', 'second:m-two'],
    ['second:other', 'second:other'],
    ['llama3:latest', 'llama3:latest'],
    ['persona:Ada Lovelace', 'persona:Ada Lovelace'],
    ['builtin', 'builtin:latest'],
  ])
  for (const { name, modified_at, digest, size, details } of models) {
    assert.ok(Date.parse(String(modified_at)) > Date.parse('2025-01-01'))
    assert.match(digest, /^[0-9a-f]{64}$/)
    assert.is(size, name === 'llama3:latest' ? 123 : 0)
    assert.equal(Object.keys(details).length, 6)
  }
  assert.equal(pluck((await ollama.ps()).models, 'name'), ['llama3:latest'])
  const shown = await ollama.show({ model: 'm-one' })
  assert.equal(shown.capabilities, ['completion', 'tools', 'vision'])
  assert.equal(shown.model_info, { 'general.architecture': 'custom' })
  assert.equal((await ollama.show({ model: 'builtin' })).capabilities, ['embedding'])
  assert.is((await ollama.show({ model: 'persona:Ada Lovelace' })).details.parent_model, 'm-one')
})

test('a model answers under the name that it was asked by, with and without a tag; one of this machine is asked alone', async () => {
  await using daemon = await openKeyDaemon({ provider, second: provider, runner: localRunner() })
  const ollama = clientOf(daemon, daemon.ada.token)
  for (const model of ['m-one', 'm-one:latest', 'second:m-two']) {
    const answer = await ollama.chat({ model, messages })
    assert.equal([answer.model, answer.message.content, answer.done], [model, 'Hello there', true])
  }
  assert.equal(
    [...daemon.provider.received, ...daemon.second.received].map(({ body }) => JSON.parse(body).model),
    ['m-one', 'm-one', 'm-two'],
  )
  const before = daemon.provider.received.length
  for (const model of ['llama3', 'llama3:latest'])
    assert.is((await ollama.chat({ model, messages })).message.content, 'local answer')
  assert.is(daemon.provider.received.length, before, 'no provider was asked')
})

test('options, pictures, formats and thinking reach the provider; without a word it streams lines', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const ollama = clientOf(daemon, daemon.ada.token)
  const picture = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 0])
  await ollama.chat({
    model: 'm-one',
    messages: [{ role: 'user', content: 'What is this?', images: [picture] }],
    options: { temperature: 0.5, num_predict: 9, seed: 3, stop: ['END'], num_ctx: 8192 },
    format: 'json',
    keep_alive: '5m',
    think: 'low',
  })
  const sent = JSON.parse(daemon.provider.received[0]!.body)
  const most = sent.max_tokens ?? sent.max_completion_tokens
  assert.equal([sent.temperature, most, sent.seed, sent.stop, sent.reasoning_effort], [0.5, 9, 3, ['END'], 'low'])
  assert.equal(sent.response_format, { type: 'json_object' })
  assert.equal(sent.messages[0].content[1].image_url.url, 'data:image/jpeg;base64,/9j/4AAA')
  assert.is(sent.options ?? sent.keep_alive ?? sent.think, undefined)
  await ollama.chat({ model: 'm-one', messages, options: { num_predict: -1 }, think: false })
  const { max_tokens, max_completion_tokens } = JSON.parse(daemon.provider.received[1]!.body)
  assert.is(max_tokens ?? max_completion_tokens, undefined, 'no limit')
  const response = await fetch(`${daemon.url}/ollama/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.ada.token}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: JSON.stringify({ model: 'm-one', messages }),
  })
  assert.is(response.headers.get('content-type'), 'application/x-ndjson')
  assert.is(response.headers.get('x-aichat-model'), 'm-one')
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(
    lines.map(({ message, done }) => [message.content, done]),
    [
      ['Hello', false],
      [' there', false],
      ['', true],
    ],
  )
  const { done_reason, total_duration, eval_duration, prompt_eval_duration } = lines.at(-1)
  assert.ok(total_duration >= eval_duration && eval_duration >= 1 && prompt_eval_duration >= 1)
  assert.ok([total_duration, eval_duration].every(Number.isSafeInteger))
  assert.is(done_reason, 'stop')
})

test('a request without a prompt loads, and asks nobody', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const ollama = clientOf(daemon, daemon.ada.token)
  const loaded = await ollama.generate({ model: 'm-one', prompt: '' })
  assert.equal([loaded.done, loaded.done_reason, loaded.response], [true, 'load', ''])
  assert.is((await ollama.generate({ model: 'm-one', prompt: '', keep_alive: 0 })).done_reason, 'unload')
  assert.is((await ollama.chat({ model: 'm-one', messages: [] })).done_reason, 'load')
  const missing = await failureOf(() => ollama.generate({ model: 'nope', prompt: '' }))
  assert.equal([missing['status_code'], missing.message.includes('model "nope" not found')], [404, true])
  assert.is(daemon.provider.received.length, 0)
})

test('embeddings of one text, of several, and by the older route', () =>
  withKeyDaemon(async (daemon) => {
    const ollama = clientOf(daemon, daemon.ada.token)
    const two = await ollama.embed({ model: 'builtin', input: ['one', 'two'] })
    assert.equal([two.model, two.embeddings.length, two.prompt_eval_count], ['builtin', 2, 2])
    const one = await ollama.embed({ model: 'builtin:latest', input: 'one' })
    assert.equal(one.embeddings, [two.embeddings[0]])
    assert.equal((await ollama.embeddings({ model: 'builtin', prompt: 'one' })).embedding, two.embeddings[0])
    const missing = await failureOf(() => ollama.embed({ model: 'nope', input: 'one' }))
    assert.is(missing['status_code'], 404)
  }))

test('a plugin for embeddings is listed and asked', async () => {
  await using daemon = await openKeyDaemon({
    provider: (_, response) =>
      json(response, 200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
        model: 'v-one',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
  })
  const { plugins } = daemon.installation.app
  await plugins.install(
    pluginAt(daemon.provider.url, {
      id: 'vectors',
      type: 'embedding',
      endpoint: `${daemon.provider.url}/v1/embeddings`,
      model_map: ['v-one'],
    }),
  )
  await plugins.activate('vectors')
  const ollama = clientOf(daemon, daemon.ada.token)
  const row = (await ollama.list()).models.find(({ name }) => name === 'v-one')!
  assert.equal([row.model, row.details.family], ['v-one:latest', 'vectors'])
  const made = await ollama.embed({ model: row.model, input: 'Hi', dimensions: 2 })
  assert.equal([made.model, made.embeddings, made.prompt_eval_count], ['v-one:latest', [[0.5, 1]], 3])
  const { model, dimensions } = JSON.parse(daemon.provider.received[0]!.body)
  assert.equal([model, dimensions], ['v-one', 2])
  const { secret } = await daemon.key(daemon.ada, { scopes: ['chat'] })
  const seen = await clientOf(daemon, secret).list()
  assert.not(
    seen.models.some(({ name }) => name === 'v-one' || name === 'builtin'),
    'of no use to this key',
  )
})

test('what changes models is refused by name, and what no chat can express too', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const ollama = clientOf(daemon, daemon.ada.token)
  const calls: Record<string, () => Promise<unknown>> = {
    pull: () => ollama.pull({ model: 'llama3' }),
    push: () => ollama.push({ model: 'llama3' }),
    create: () => ollama.create({ model: 'mine', from: 'llama3' }),
    copy: () => ollama.copy({ source: 'a', destination: 'b' }),
    delete: () => ollama.delete({ model: 'llama3' }),
  }
  for (const [name, run] of Object.entries(calls)) {
    const failure = await failureOf(run)
    assert.equal([failure['status_code'], failure.message.startsWith(`${name} is not offered here`)], [400, true])
  }
  for (const more of [{ suffix: 'end' }, { template: '{{ .Prompt }}' }, { raw: true }, { context: [1, 2] }]) {
    const failure = await failureOf(() => ollama.generate({ model: 'm-one', prompt: 'x', ...more }))
    assert.equal([failure['status_code'], failure.message.includes(Object.keys(more)[0]!)], [400, true])
  }
  assert.is(daemon.provider.received.length, 0)
})

test('every error is one text: without a token, for an address that is not there, for a body that makes no sense', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const { call, url, ada, key } = daemon
  const { secret } = await key(ada, { scopes: ['models'] })
  const { token } = ada
  const body = { model: 'm-one', messages }
  const asked = [
    [401, await call('POST', '/ollama/api/chat', { body })],
    [403, await call('POST', '/ollama/api/chat', { token: secret, body })],
    [403, await call('GET', '/ollama/api/tags', { token: secret })],
    [403, await call('POST', '/ollama/api/chat', { token, body, headers: { origin: 'https://evil.example' } })],
    [404, await call('GET', '/ollama/api/nothing', { token })],
    [404, await call('POST', '/ollama/api/blobs', { token, body })],
    [405, await call('GET', '/ollama/api/chat', { token })],
    [400, await call('POST', '/ollama/api/chat', { token, body: { messages } })],
    [400, await call('POST', '/ollama/api/chat', { token, body: { ...body, messages: 'x' } })],
    [400, await call('POST', '/ollama/api/chat', { token, body: { ...body, messages: [{ role: 'x' }] } })],
    ...(await Promise.all(
      [{ options: 5 }, { tools: 'x' }, { stream: 'no' }, { format: 'xml' }, { think: 5 }].map(
        async (more) => [400, await call('POST', '/ollama/api/chat', { token, body: { ...body, ...more } })] as const,
      ),
    )),
    [400, await call('POST', '/ollama/api/generate', { token, body: { model: 'm-one', prompt: 5 } })],
    [400, await call('POST', '/ollama/api/generate', { token, body: [] })],
    [413, await call('POST', '/ollama/api/show', { token, body: { model: 'x'.repeat(2_000_000) } })],
    [415, await call('POST', '/ollama/api/chat', { token, body, headers: { 'content-type': 'text/plain' } })],
  ] as const
  for (const [at, [status, answer]] of asked.entries()) {
    assert.is(answer.status, status, `${at}: ${JSON.stringify(answer.body)}`)
    assert.equal(Object.keys(answer.body), ['error'], String(at))
    assert.type(answer.body.error, 'string')
  }
  const ours = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.is(((await ours.json()) as { object: string }).object, 'chat.completion', 'our own route keeps its shape')
})

test('an answer that breaks off is an error, and one that its client leaves is cancelled', async () => {
  await using daemon = await openKeyDaemon({
    provider: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(completionEvents(['Hello']).slice(0, 2).join(''))
    },
    second: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(completionEvents(['Hello']).slice(0, 2).join(''))
    },
  })
  const ollama = clientOf(daemon, daemon.ada.token)
  const broken = await ollama.chat({ model: 'm-one', messages, stream: true })
  const parts: string[] = []
  const failure = await failureOf(async () => {
    for await (const { message } of broken) parts.push(message.content)
  })
  assert.equal(parts, ['Hello'])
  assert.not.match(failure.message, /Did not receive done/)
  const endless = await ollama.chat({ model: 'second:other', messages, stream: true })
  await failureOf(async () => {
    for await (const _ of endless) ollama.abort()
  })
  const [request] = daemon.second.received
  while (!request!.cancelled) await new Promise((resolve) => setImmediate(resolve))
})

test.run()
