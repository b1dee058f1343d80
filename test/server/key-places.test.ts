import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { failureOf } from '../helpers/program/client-libraries.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, localRunner } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { type KeyDaemon, openKeyDaemon } from './key-daemon.ts'

const test = suite('the models and plugins of a key')
const messages = [{ role: 'user' as const, content: 'Hi' }]
const down: Answer = (_, response) => json(response, 500, { error: { message: 'down' } })
const answering =
  (text: string): Answer =>
  (request, response) => {
    if (!JSON.parse(request.body).stream) return json(response, 200, completion(text))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents([text]).join(''))
  }

/** A chat with a key of these lists: its status, the target that answered, and the requests to each target. */
async function ask(daemon: KeyDaemon, lists: object, more: object = {}) {
  const { secret: token } = await daemon.key(daemon.bob, lists)
  const body = { model: 'm-one', messages, ...more }
  const answer = await daemon.call('POST', '/api/chat', { token, body })
  return {
    status: answer.status,
    code: answer.body.code,
    text: answer.body.choices?.[0].message.content,
    aichat: answer.body.aichat,
    body: answer.body,
    asked: [daemon.provider, daemon.second].map(({ received }) => received.length),
  }
}

test('a fallback outside the lists is not asked, when the first target fails', async () => {
  await using daemon = await openKeyDaemon({ provider: down, second: answering('second'), runner: localRunner() })
  for (const lists of [{ plugins: ['custom'] }, { models: ['custom:*'] }, { models: ['m-one'] }]) {
    const before = daemon.provider.received.length
    const { status, code, asked } = await ask(daemon, lists)
    assert.equal([status, code, asked], [503, 'unavailable', [before + 1, 0]], JSON.stringify(lists))
  }
  assert.is(daemon.runner.received.filter(({ url }) => url === '/api/chat').length, 0)
})

test('further models that a request names to the provider itself are places too', async () => {
  await using daemon = await openKeyDaemon({ provider: answering('first') })
  const fallback = false
  for (const more of [
    { models: ['m-one', 'dear'] },
    { models: 'dear' },
    { models: [{ model: 'dear' }] },
    { fallbacks: [['m-one', 'dear']] },
    { fallbacks: [{ model: 'm-two' }, 7] },
  ]) {
    const { status, code, asked } = await ask(daemon, { models: ['m-*'] }, { ...more, fallback })
    assert.equal([status, code, asked], [403, 'model_not_allowed', [0, 0]], JSON.stringify(more))
  }
  const permitted = { models: ['m-two', { model: 'm-one' }], fallbacks: null }
  assert.is((await ask(daemon, { models: ['m-*'] }, { ...permitted, fallback })).status, 200)
  assert.is((await ask(daemon, {}, { models: ['dear'], fallback })).status, 200)
})

test('the local runner is a place like the others', async () => {
  await using daemon = await openKeyDaemon({ provider: down, second: down, runner: localRunner() })
  const refused = await ask(daemon, { plugins: ['custom', 'second'] })
  assert.is(refused.status, 503)
  const { status, aichat } = await ask(daemon, { plugins: ['custom', 'local'] })
  assert.equal([status, aichat.runner], [200, 'ollama'])
  assert.equal(
    aichat.attempts.map(({ plugin, tries, class: kind }: { plugin: string; tries: number; class: string }) => [
      plugin,
      tries,
      kind,
    ]),
    [
      ['second', 0, 'not_permitted'],
      ['custom', 1, 'down'],
      [null, 1, undefined],
    ],
  )
  assert.is((await ask(daemon, { models: ['local:*'] })).status, 200)
  assert.is((await ask(daemon, { models: ['local:mistral'] })).status, 403)
})

test('a first target outside the lists is skipped for one inside; where none is inside, it is 403', async () => {
  await using daemon = await openKeyDaemon({ provider: answering('first'), second: answering('second') })
  const { status, text, aichat, asked } = await ask(daemon, { plugins: ['second'] })
  assert.equal([status, text, aichat.fallback, asked], [200, 'second', true, [0, 1]])
  for (const more of [{ fallback: false }, { model: 'second:other', fallback: false }]) {
    const refused = await ask(daemon, { models: ['second:m-*'] }, more)
    assert.equal([refused.status, refused.code], [403, 'model_not_allowed'])
  }
  const refused = await ask(daemon, { models: ['gpt*'] })
  assert.match(refused.body.error, /does not allow custom:m-one, second:m-two/)
  assert.equal(refused.asked, [0, 1])
})

test('a persona’s model is held to the lists, and so is a preview', async () => {
  await using daemon = await openKeyDaemon({ provider: answering('first'), second: answering('second') })
  const { call, bob, key } = daemon
  await call('POST', '/api/personas', { ...bob, body: { name: 'Mia', model: 'second:other' } })
  const { secret: token } = await key(bob, { models: ['m-one'], personas: ['Mia'] })
  for (const path of ['/api/chat', '/api/chat/preview']) {
    const refused = await call('POST', path, { token, body: { persona: 'Mia', messages } })
    assert.equal([refused.status, refused.body.code], [403, 'model_not_allowed'], path)
    const asked = await call('POST', path, { token, body: { persona: 'Mia', messages, model: 'm-one' } })
    assert.is(asked.status, 200, path)
  }
  const { secret: second } = await key(bob, { plugins: ['second'] })
  const preview = await call('POST', '/api/chat/preview', { token: second, body: { model: 'm-one', messages } })
  assert.is(preview.body.plugin, 'second')
  assert.is(daemon.second.received.length, 0)
})

test('lists of models show what the key allows', async () => {
  await using daemon = await openKeyDaemon({ runner: localRunner() })
  const { call, key, bob } = daemon
  const { secret: token } = await key(bob, { models: ['second:*', 'm-one', 'local:llama*'] })
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id)
  const allowed = ['m-one', 'second:m-two', 'second:other', 'llama3:latest']
  assert.equal(ids((await call('GET', '/v1/models', { token })).body.data), allowed)
  const anthropic = await call('GET', '/v1/models', { headers: { 'x-api-key': token, 'anthropic-version': '1' } })
  assert.equal(ids(anthropic.body.data), allowed)
  assert.equal(ids((await call('GET', '/api/chat/models', { token })).body.models), allowed)
  assert.is((await call('GET', '/v1/models/m-two', { token })).status, 404)
  assert.is((await call('GET', '/v1/models/second:other', { token })).status, 200)
  const { models } = (await call('GET', '/api/models', { token })).body
  assert.equal([...new Set(models.map(({ plugin }: { plugin: string }) => plugin))].sort(), ['custom', 'second'])
  assert.equal(ids((await call('GET', '/api/models?installed=true', { token })).body.models), ['llama3:latest'])
  assert.equal((await call('GET', '/api/embeddings/models', { token })).body.models, [])
})

test('embeddings and speech are held to the lists', async () => {
  await using daemon = await openKeyDaemon({
    second: (_, response) =>
      json(response, 200, { data: [{ index: 0, embedding: [1, 0] }], model: 'e-small', usage: { prompt_tokens: 1 } }),
  })
  const { call, key, bob, installation, second } = daemon
  await installation.app.plugins.install(
    pluginAt(second.url, { id: 'vectors', type: 'embedding', model_map: ['e-small', 'e-large'] }),
  )
  const { secret: token } = await key(bob, { models: ['vectors:e-small', 'voxb-tts:*'] })
  const embed = async (model?: string) =>
    (await call('POST', '/v1/embeddings', { token, body: { input: 'Hi', model } })).body
  assert.is((await embed('vectors:e-small')).data.length, 1)
  for (const model of ['vectors:e-large', undefined]) assert.is((await embed(model)).error.code, 'model_not_allowed')
  assert.is(second.received.length, 1)
  const speak = async (secret: string, model: string) =>
    (await call('POST', '/v1/audio/speech', { token: secret, body: { input: 'Hi', model, response_format: 'wav' } }))
      .body
  assert.is((await speak(token, 'voxa-tts')).error.code, 'model_not_allowed')
  const { secret: other } = await key(bob, { plugins: ['custom'], scopes: ['speech'] })
  for (const [path, body] of [
    ['/api/speech', { input: 'Hi' }],
    ['/api/speech/design', { input: 'Hi', voice_description: 'warm' }],
    ['/api/speech/clone', { input: 'Hi', reference_audio: 'AAAA' }],
  ] as const) {
    const refused = await call('POST', path, { token: other, body })
    assert.equal([refused.status, refused.body.code], [403, 'model_not_allowed'], path)
  }
})

test('the libraries of OpenAI and Anthropic tell the refusals apart, and ask once', async () => {
  await using daemon = await openKeyDaemon({ provider: answering('first'), second: answering('second') })
  const { key, bob, call, url } = daemon
  const narrow = await key(bob, { models: ['m-one'] })
  const speech = await key(bob, { scopes: ['speech'] })
  const revoked = await key(bob)
  await call('DELETE', `/api/keys/${revoked.id}`, bob)
  const refusals = [
    [revoked.secret, 401, 'invalid_api_key'],
    ['aic_nonsense', 401, 'invalid_api_key'],
    [speech.secret, 403, 'key_scope'],
    [narrow.secret, 403, 'model_not_allowed'],
  ] as const
  for (const [apiKey, status, code] of refusals) {
    let requests = 0
    const counting: typeof fetch = (...given) => {
      requests++
      return fetch(...given)
    }
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch: counting })
    const failure = await failureOf(() => openai.chat.completions.create({ model: 'm-two', messages }))
    assert.instance(failure, status === 401 ? OpenAI.AuthenticationError : OpenAI.PermissionDeniedError)
    assert.equal([failure['status'], failure['code'], requests], [status, code, 1])
    const type = status === 401 ? 'authentication_error' : 'permission_error'
    assert.is(failure['type'], type)

    requests = 0
    const anthropic = new Anthropic({ baseURL: url, apiKey, fetch: counting })
    const other = await failureOf(() => anthropic.messages.create({ model: 'm-two', max_tokens: 9, messages }))
    assert.instance(other, status === 401 ? Anthropic.AuthenticationError : Anthropic.PermissionDeniedError)
    assert.equal([other['status'], requests], [status, 1])
    assert.is((other['error'] as { error: { type: string } }).error.type, type)
    for (const { message } of [failure, other]) assert.not(message.includes(apiKey))
  }
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: narrow.secret })
  const reply = await openai.chat.completions.create({ model: 'm-one', messages })
  assert.is(reply.choices[0]!.message.content, 'first')
  const anthropic = new Anthropic({ baseURL: url, apiKey: narrow.secret })
  const message = await anthropic.messages.create({ model: 'm-one', max_tokens: 9, messages })
  assert.is(message.content[0]!.type === 'text' && message.content[0].text, 'first')
})

test.run()
