// Some with --all only: many processes.
import Anthropic from '@anthropic-ai/sdk'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { failureOf } from '../helpers/program/client-libraries.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'
import { type KeyDaemon, openKeyDaemon, type TestUser, withKeyDaemon } from './key-daemon.ts'

const test = suite('personas from other people’s clients')

const provider: Answer = (request, response) => {
  if (!JSON.parse(request.body).stream) return json(response, 200, completion('Noted.', 'm-one-2026'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Not', 'ed.'], 'm-one-2026').join(''))
}

const told = 'My sister is a physician in Zurich.'
const question = 'Where does my sister work as a physician?'

/** Sends a text to a model; resolves with the text of the answer and the model's name in it. */
type Say = (model: string, text: string) => Promise<{ readonly text: string; readonly model: string }>

/** Clients of four dialects, streamed and whole, with one token or key. */
function clientsOf(url: string, apiKey: string): Record<string, Say> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
  const ollama = new Ollama({ host: `${url}/ollama`, headers: { authorization: `Bearer ${apiKey}` } })
  const messages = (content: string) => [{ role: 'user' as const, content }]
  return {
    openai: async (model, text) => {
      const reply = await openai.chat.completions.create({ model, messages: messages(text) })
      return { text: reply.choices[0]!.message.content!, model: reply.model }
    },
    'openai streamed': async (model, text) => {
      const final = await openai.chat.completions.stream({ model, messages: messages(text) }).finalChatCompletion()
      return { text: final.choices[0]!.message.content!, model: final.model }
    },
    responses: async (model, text) => {
      const { output_text, model: named } = await openai.responses.create({ model, input: text, store: false })
      return { text: output_text, model: named }
    },
    'responses streamed': async (model, text) => {
      const final = await openai.responses.stream({ model, input: text, store: false }).finalResponse()
      return { text: final.output_text, model: final.model }
    },
    anthropic: async (model, text) => textOf(await anthropic.messages.create(anthropicBody(model, text))),
    'anthropic streamed': async (model, text) =>
      textOf(await anthropic.messages.stream(anthropicBody(model, text)).finalMessage()),
    ollama: async (model, text) => {
      const answer = await ollama.chat({ model, messages: messages(text) })
      return { text: answer.message.content, model: answer.model }
    },
    'ollama generate, streamed': async (model, prompt) => {
      const whole = { text: '', model: '' }
      for await (const part of await ollama.generate({ model, prompt, stream: true })) {
        whole.text += part.response
        whole.model = part.model
      }
      return whole
    },
  }

  function anthropicBody(model: string, text: string) {
    return { model, max_tokens: 100, messages: messages(text) }
  }

  function textOf({ content, model }: Anthropic.Message) {
    return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), model }
  }
}

/** Ollama’s client calls it otherwise. */
function statusOf(failure: Record<string, unknown>): unknown {
  return failure['status'] ?? failure['status_code']
}

/** Ollama’s routes need a model. */
function refusalOf(client: string, model: string): number {
  return model === '' && client.startsWith('ollama') ? 400 : 403
}

async function personaOf({ call }: KeyDaemon, { token }: TestUser, more: object = {}): Promise<string> {
  const body = { name: 'Ada Lovelace', model: 'm-one', system_prompt: 'You are Ada.', parameters: { seed: 7 }, ...more }
  const made = await call('POST', '/api/personas', { token, body: { memory_settings: { enabled: true }, ...body } })
  assert.is(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

async function memoriesOf({ call }: KeyDaemon, { token }: TestUser, persona: string) {
  return (await call('GET', `/api/personas/${persona}/memory`, { token })).body.memories as readonly {
    readonly id: string
    readonly content: string
    readonly metadata: Record<string, unknown>
  }[]
}

const lastSent = ({ provider }: KeyDaemon) => JSON.parse(provider.received.at(-1)!.body)

test('what one client told a persona, every other finds', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const clients = Object.entries(clientsOf(daemon.url, daemon.ada.token))
  for (const [teller] of isWholeRun ? clients : clients.slice(0, 1)) {
    const id = await personaOf(daemon, daemon.ada)
    await clientsOf(daemon.url, daemon.ada.token)[teller]!('persona:Ada Lovelace', told)
    assert.ok(
      (await memoriesOf(daemon, daemon.ada, id)).some(({ content }) => content === told),
      teller,
    )
    for (const [asker, say] of clients) {
      const answer = await say('persona:Ada Lovelace', question)
      assert.equal(answer, { text: 'Noted.', model: 'persona:Ada Lovelace' }, asker)
      const { model, seed, messages } = lastSent(daemon)
      assert.equal([model, seed], ['m-one', 7])
      assert.is(messages[0].content, 'You are Ada.')
      assert.match(JSON.stringify(messages.at(-1)), `, ada, chat] ${told}`, `${asker} after ${teller}`)
    }
    await daemon.call('DELETE', `/api/personas/${id}`, { token: daemon.ada.token })
  }
})

test('the CLI’s route takes the same name, and so does its preview', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const id = await personaOf(daemon, daemon.ada)
  const ask = async (path: string, more: object) =>
    daemon.call('POST', path, {
      token: daemon.ada.token,
      body: { messages: [{ role: 'user', content: told }], ...more },
    })
  for (const model of ['persona:Ada Lovelace', `persona:${id}`]) {
    const { status, body } = await ask('/api/chat', { model })
    assert.equal([status, body.model, body.aichat.model], [200, model, 'm-one'])
    assert.match((await ask('/api/chat/preview', { model })).body.body.messages[0].content, 'You are Ada.')
  }
  assert.is((await ask('/api/chat', { model: `persona:${id}`, persona: id })).status, 200)
  for (const more of [{ model: 'persona:Ada Lovelace', persona: 'Bob' }, { model: 'persona:' }])
    assert.is((await ask('/api/chat', more)).status, 400, JSON.stringify(more))
  const plain = await ask('/api/chat/tokens', {})
  const hers = await ask('/api/chat/tokens', { model: `persona:${id}` })
  assert.ok(hers.body.input_tokens > plain.body.input_tokens, 'her prompt counts')
})

test('Anthropic’s client counts a persona’s prompt and memories', async () => {
  await using daemon = await openKeyDaemon({ provider })
  await personaOf(daemon, daemon.ada)
  const anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.ada.token })
  const count = async (model: string) =>
    (await anthropic.messages.countTokens({ model, messages: [{ role: 'user', content: 'Hi' }] })).input_tokens
  assert.ok((await count('persona:Ada Lovelace')) > (await count('m-one')))
})

test('both lists of models show the caller’s personas, one can be fetched, and another user sees none', () =>
  withKeyDaemon(async (daemon) => {
    const id = await personaOf(daemon, daemon.ada)
    const [first, second] = [
      await personaOf(daemon, daemon.ada, { name: 'Twin' }),
      await personaOf(daemon, daemon.ada, { name: 'Twin' }),
    ]
    const openai = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.ada.token })
    const anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.ada.token })
    const names = ['persona:Ada Lovelace', `persona:${first}`, `persona:${second}`]
    const ids = []
    for await (const model of openai.models.list()) ids.push(model.id)
    assert.equal(
      ids.filter((each) => each.startsWith('persona:')),
      names,
    )
    const shown = []
    for await (const model of anthropic.models.list({ limit: 1 }))
      shown.push([model.id, model.display_name].join(' as '))
    assert.ok(shown.includes('persona:Ada Lovelace as Ada Lovelace'))
    assert.is((await openai.models.retrieve('persona:Ada Lovelace')).owned_by, 'persona')
    assert.is((await anthropic.models.retrieve(`persona:${first}`)).display_name, 'Twin')
    const { body } = await daemon.call('GET', '/v1/models', { token: daemon.bob.token })
    assert.not(JSON.stringify(body).includes('persona:'))
    const { status } = await daemon.call('GET', `/v1/models/persona:${id}`, { token: daemon.bob.token })
    assert.is(status, 404)
  }))

test('another user’s persona is refused as everywhere, in the dialect’s own error', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const id = await personaOf(daemon, daemon.ada)
  for (const [name, say] of Object.entries(clientsOf(daemon.url, daemon.bob.token))) {
    const foreign = await failureOf(() => say(`persona:${id}`, told))
    const absent = await failureOf(() => say('persona:Ada Lovelace', told))
    assert.equal([statusOf(foreign), statusOf(absent)], [403, 404], name)
    assert.match(foreign.message, /belongs to another user/)
  }
  assert.is(daemon.provider.received.length, 0)
  assert.equal(await memoriesOf(daemon, daemon.ada, id), [])
})

test.whole('a key that is bound to a persona reaches nothing else', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const { ada, call, key, url } = daemon
  await personaOf(daemon, ada)
  await personaOf(daemon, ada, { name: 'Leo' })
  const { id, secret: token } = await key(ada, { personas: ['Ada Lovelace'] })
  assert.equal((await call('GET', `/api/keys/${id}`, { token: ada.token })).body.scopes, ['chat', 'models'])
  for (const [name, say] of Object.entries(clientsOf(url, token))) {
    assert.is((await say('persona:Ada Lovelace', told)).text, 'Noted.', name)
    for (const model of ['m-one', 'custom:m-one', 'second:m-two', 'local:llama3', 'persona:Leo', ''])
      assert.is(statusOf(await failureOf(() => say(model, told))), refusalOf(name, model), `${name}: ${model}`)
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const status = async (path: string, body: object) => (await call('POST', path, { token, body })).status
  for (const path of ['/api/chat', '/api/chat/preview', '/api/chat/tokens', '/v1/messages/count_tokens'])
    assert.equal([path, await status(path, { messages, model: 'm-one' })], [path, 403])
  assert.is(await status('/v1/embeddings', { input: 'Hi' }), 403)
  assert.is(await status('/v1/audio/speech', { input: 'Hi', voice: 'alba' }), 403)
  for (const path of ['/v1/models', '/v1/models?limit=1000'])
    assert.equal(pluck((await call('GET', path, { token })).body.data, 'id'), ['persona:Ada Lovelace'])
  for (const path of ['/api/chat/models', '/api/models'])
    assert.equal((await call('GET', path, { token })).body.models, [])
  assert.is((await call('GET', '/v1/models/m-one', { token })).status, 404)
  const plain = await key(ada)
  const refused = await failureOf(() => clientsOf(url, plain.secret)['openai']!('persona:Leo', told))
  assert.match(refused.message, /lacks the scope personas/)
})

test('a client’s own name for its conversation labels memories, and opens nothing', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const { ada, call } = daemon
  const id = await personaOf(daemon, ada)
  const { body: session } = await call('POST', '/api/sessions', { token: ada.token, body: { persona: id } })
  const long = 'x'.repeat(5000)
  const labelled = async (text: string, path: string, more: object, headers: Record<string, string> = {}) => {
    const body = { model: `persona:${id}`, max_tokens: 9, messages: [{ role: 'user', content: text }], ...more }
    const answer = await call('POST', path, { token: ada.token, body, headers })
    assert.is(answer.status, 200, JSON.stringify(answer.body))
    const all = await memoriesOf(daemon, ada, id)
    return all.find(({ content }) => content === text)!.metadata['conversation']
  }
  const openai = '/v1/chat/completions'
  const anthropic = '/v1/messages'
  assert.is(await labelled('I live in Bern.', openai, {}), undefined)
  assert.is(await labelled('I own a boat.', openai, { prompt_cache_key: 'talk-1' }), 'client:talk-1')
  const header = { 'x-aichat-conversation': 'talk-2' }
  assert.is(await labelled('I play chess.', openai, { prompt_cache_key: 'talk-1' }, header), 'client:talk-2')
  assert.is(await labelled('I collect stamps.', anthropic, { metadata: { user_id: 'u-1' } }), 'client:u-1')
  const code = { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: 'abc' }) } }
  assert.is(await labelled('I sail on Sundays.', anthropic, code), 'client:abc')
  assert.match((await labelled('I bake bread.', openai, { prompt_cache_key: long })) as string, /^client:[0-9a-f]{32}$/)
  assert.is(
    await labelled('I ride a horse.', openai, { prompt_cache_key: session.id }),
    `client:${session.id}`,
    'no conversation of ours is meant by it',
  )
  const { body: after } = await call('GET', `/api/sessions/${session.id}`, { token: ada.token })
  assert.is(after.messages.length, 0)
})

test('headers name the memories that went in and the provider’s model; the end comes after the saving', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const { ada, call, url } = daemon
  const id = await personaOf(daemon, ada)
  const memory = await call('POST', `/api/personas/${id}/memory`, { token: ada.token, body: { content: told } })
  for (const stream of [false, true]) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'persona:Ada Lovelace', stream, messages: [{ role: 'user', content: question }] }),
    })
    assert.is(response.headers.get('x-aichat-model'), 'm-one')
    assert.is(response.headers.get('x-aichat-memories'), memory.body.id)
    const text = await response.text()
    assert.not(text.includes('m-one-2026'), 'every event names the persona')
    const kept = (await memoriesOf(daemon, ada, id)).filter(({ content }) => content === question)
    assert.is(kept.length, 1, 'kept once the answer has ended')
  }
})

test('a persona’s chat is not stored at the provider, takes no memories on request, and is no persona’s model', async () => {
  await using daemon = await openKeyDaemon({ provider })
  const { ada, call } = daemon
  const id = await personaOf(daemon, ada)
  const ask = (more: object) =>
    call('POST', '/v1/chat/completions', {
      token: ada.token,
      body: { model: `persona:${id}`, messages: [{ role: 'user', content: told }], ...more },
    })
  const stored = await ask({ store: true })
  assert.is(stored.status, 400)
  assert.match(stored.body.error.message, /store: must not be true with a persona/)
  assert.is((await ask({ store: false, memory: false })).status, 200)
  assert.equal(await memoriesOf(daemon, ada, id), [])
  for (const more of [{ persona: id }, { session: 'talk' }]) assert.is((await ask(more)).status, 400)
  const body = { name: 'Echo', model: `persona:${id}` }
  assert.is((await call('POST', '/api/personas', { token: ada.token, body })).status, 400)
})

test.run()
