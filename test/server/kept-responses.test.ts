import { join } from 'node:path'
import { generateText, type ModelMessage, streamText } from 'ai'
import BetterSqlite3 from 'better-sqlite3'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import {
  type DialectId,
  endpoints,
  failureOf,
  openLibraries,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { hearing } from './hearing-model.ts'
import { type KeyDaemon, openKeyDaemon } from './key-daemon.ts'

const test = suite('responses that are kept, with the client libraries unchanged')

const model = 'custom-model'

for (const api of Object.keys(endpoints) as DialectId[])
  test(`three turns over a provider of ${api} go on with each other by their ids, streamed and not`, () =>
    withLibraries(
      hearing(api),
      async ({ openai }) => {
        const first = await openai.responses.create({ model, input: 'One', instructions: 'Be brief.' })
        assert.equal(
          [first.output_text, storeOf(first), first.previous_response_id],
          ['heard 2: Be brief. | One', true, null],
        )
        let third: OpenAI.Responses.Response | undefined
        const stream = openai.responses.stream({ model, input: 'Two', previous_response_id: first.id })
        for await (const event of stream)
          if (event.type === 'response.completed') {
            assert.is(event.response.previous_response_id, first.id)
            // At once: the connection of the stream is still open.
            third = await openai.responses.create({
              model,
              input: [{ role: 'user', content: 'Three' }],
              previous_response_id: event.response.id,
            })
          }
        const second = await stream.finalResponse()
        assert.is(second.output_text, `heard 3: One | ${first.output_text} | Two`)
        assert.is(third?.output_text, `heard 5: One | ${first.output_text} | Two | ${second.output_text} | Three`)
        const fork = await openai.responses.create({ model, input: 'Else', previous_response_id: first.id })
        assert.is(fork.output_text, `heard 3: One | ${first.output_text} | Else`)
        assert.is(new Set([first.id, second.id, third?.id, fork.id]).size, 4)
      },
      { plugin: { api } },
    ))

for (const api of Object.keys(endpoints) as DialectId[])
  test(`a tool's output alone goes on with its call, over a provider of ${api}; without the call it is refused`, () =>
    withLibraries(
      hearing(api),
      async ({ openai }) => {
        const parameters = { type: 'object', properties: { city: { type: 'string' } } }
        const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }]
        const asked = await openai.responses.create({ model, input: 'Weather?', tools })
        const call = asked.output.find((item) => item.type === 'function_call')!
        const input = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' }]
        const told = await openai.responses.create({ model, input, tools, previous_response_id: asked.id })
        assert.match(told.output_text, /Weather\?.*sunny/)
        const third = await openai.responses.create({ model, input: 'Thanks', previous_response_id: told.id })
        assert.match(third.output_text, /Weather\?.*sunny.*Thanks/)
        const lone = await failureOf(() => openai.responses.create({ model, input, tools }))
        assert.is(lone['status'], 400)
        const other = await openai.responses.create({ model, input: 'Hi' })
        const stray = await failureOf(() =>
          openai.responses.create({ model, input, tools, previous_response_id: other.id }),
        )
        assert.equal([stray['status'], /names no call/.test(stray.message)], [400, true])
      },
      { plugin: { api } },
    ))

test('a response is retrieved as it was, its input listed in pages, and both are gone once it is deleted', () =>
  withLibraries(hearing(), async ({ openai, url }) => {
    const made = await openai.responses.create({ model, input: 'One', metadata: { purpose: 'test' } })
    assert.equal(await openai.responses.retrieve(made.id), made)
    const input = ['A', 'B', 'C'].map((content) => ({ role: 'user' as const, content }))
    const long = await openai.responses.create({ model, input, previous_response_id: made.id })
    const listed = []
    for await (const item of openai.responses.inputItems.list(long.id, { limit: 2, order: 'asc' })) listed.push(item)
    assert.equal(
      listed.map((item) => item.type === 'message' && item.content),
      ['A', 'B', 'C'],
    )
    const page = await openai.responses.inputItems.list(long.id, { limit: 1 })
    assert.equal([page.data[0]?.id, page.has_more], [listed[2]?.id, true])
    const deleted = await fetch(`${url}/v1/responses/${made.id}`, { method: 'DELETE' })
    assert.equal(await deleted.json(), { id: made.id, object: 'response', deleted: true })
    for (const call of [
      () => openai.responses.retrieve(made.id),
      () => openai.responses.delete(made.id),
      () => openai.responses.cancel(made.id),
      async () => openai.responses.inputItems.list(made.id),
    ]) {
      const failure = await failureOf(call)
      assert.instance(failure, OpenAI.NotFoundError)
      assert.match(failure.message, made.id)
    }
    const lost = await failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: made.id }))
    assert.equal(
      [lost['status'], lost['code'], lost['param']],
      [400, 'previous_response_not_found', 'previous_response_id'],
    )
    // A conversation without one of its parts is not told as if it were whole.
    const broken = await failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: long.id }))
    assert.is(broken['code'], 'previous_response_not_found')
  }))

test('the tokens of a request are counted with the conversation behind it, and nothing is asked or kept', () =>
  withLibraries(hearing(), async ({ openai, provider }) => {
    const first = await openai.responses.create({ model, input: 'One '.repeat(500) })
    const alone = await openai.responses.inputTokens.count({ model, input: 'Two' })
    const behind = await openai.responses.inputTokens.count({ model, input: 'Two', previous_response_id: first.id })
    assert.is(alone.object, 'response.input_tokens')
    assert.ok(behind.input_tokens > alone.input_tokens + 500)
    assert.is(provider.received.length, 1)
    const wrong = await failureOf(() =>
      openai.responses.inputTokens.count({ model, input: 'Two', previous_response_id: 'resp_x' }),
    )
    assert.is(wrong['code'], 'previous_response_not_found')
  }))

test('with store: false nothing is kept; without a lifetime nothing ever, and the response says so', async () => {
  const refused = async (openai: OpenAI, id: string) => {
    assert.instance(await failureOf(() => openai.responses.retrieve(id)), OpenAI.NotFoundError)
    return failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: id }))
  }
  await withLibraries(hearing(), async ({ openai, url }) => {
    const made = await openai.responses.create({ model, input: 'One', store: false })
    const stream = await openai.responses.stream({ model, input: 'One', store: false }).finalResponse()
    assert.equal([storeOf(made), storeOf(stream)], [false, false])
    assert.is((await refused(openai, made.id))['code'], 'previous_response_not_found')
    assert.equal(await (await fetch(`${url}/api/responses`)).json(), { responses: 0, bytes: 0, keep_days: 30 })
  })
  await withLibraries(
    hearing(),
    async ({ openai }) => {
      const made = await openai.responses.create({ model, input: 'One' })
      assert.is(storeOf(made), false)
      assert.match((await refused(openai, made.id)).message, /keeps no responses/)
      const background = await failureOf(() => openai.responses.create({ model, input: 'x', background: true }))
      assert.match(background.message, /keeps no responses/)
    },
    { environment: { AICHAT_RESPONSES_KEEP_DAYS: '0' } },
  )
})

test('a response that expired is as unknown as any', () =>
  withLibraries(hearing(), async ({ openai, app }) => {
    const made = await openai.responses.create({ model, input: 'One' })
    const db = new BetterSqlite3(join(app.settings.paths.data, 'aichat.db'))
    const age = (days: number) =>
      db.exec(`UPDATE response SET created_at = created_at - ${days} * 86400000;
        UPDATE response_thread SET used_at = used_at - ${days} * 86400000`)
    age(29)
    assert.is((await openai.responses.retrieve(made.id)).id, made.id)
    age(2)
    assert.instance(await failureOf(() => openai.responses.retrieve(made.id)), OpenAI.NotFoundError)
    const lost = await failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: made.id }))
    assert.is(lost['code'], 'previous_response_not_found')
    await (await app.responses()).responses.expire()
    for (const table of ['response', 'response_item', 'response_thread'])
      assert.is(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table)
    db.close()
  }))

test('references to items of earlier responses, as Vercel’s client sends them by default, are the items', () =>
  withLibraries(hearing(), async ({ ai, openai, provider }) => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'One' }]
    const first = await generateText({ model: ai.responses(model), messages })
    messages.push(...first.response.messages, { role: 'user', content: 'Two' })
    const second = streamText({ model: ai.responses(model), messages })
    assert.is(await second.text, `heard 3: One | ${first.text} | Two`)
    const made = await openai.responses.create({ model, input: 'Mine' })
    const [item] = made.output
    const input = [
      { type: 'item_reference' as const, id: item!.id! },
      { type: 'item_reference' as const, id: 'rs_unknown' },
      { role: 'user' as const, content: 'Two' },
    ]
    const referred = await openai.responses.create({ model, input })
    assert.is(referred.output_text, `heard 2: ${made.output_text} | Two`)
    const asked = provider.received.length
    const unknown = await failureOf(() =>
      openai.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_unknown' }] }),
    )
    assert.equal([unknown['status'], unknown['param'], provider.received.length], [400, 'input', asked])
    assert.match(unknown.message, /msg_unknown/)
  }))

test('wrong queries, conversations and unknown parts are refused in the shape of OpenAI’s errors', () =>
  withLibraries(hearing(), async ({ openai, url }) => {
    const made = await openai.responses.create({ model, input: 'One' })
    const refusal = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url}/v1/responses${path}`, {
        method,
        ...(body && { headers, body: JSON.stringify(body) }),
      })
      const { error } = (await answer.json()) as { error: { type: string; param: string | null; message: string } }
      assert.equal(Object.keys(error), ['message', 'type', 'param', 'code'])
      return [answer.status, error.param]
    }
    const of = `/${made.id}`
    assert.equal(await refusal('GET', `${of}?stream=maybe`), [400, 'stream'])
    assert.equal(await refusal('GET', `${of}?stream=true`), [400, 'stream'])
    assert.equal(await refusal('GET', `${of}?stream=true&starting_after=-1`), [400, 'starting_after'])
    for (const limit of ['0', '101', 'x', '1.5']) {
      assert.equal(await refusal('GET', `${of}/input_items?limit=${limit}`), [400, 'limit'])
    }
    assert.equal(await refusal('GET', `${of}/input_items?order=random`), [400, 'order'])
    assert.equal(await refusal('GET', `${of}/input_items?after=msg_x`), [400, 'after'])
    assert.equal(await refusal('POST', `${of}/cancel`), [400, 'background'])
    assert.equal(await refusal('POST', '', { model, input: 'x', conversation: 'conv_1' }), [404, null])
    const both = { model, input: 'x', conversation: 'conv_1', previous_response_id: made.id }
    assert.equal(await refusal('POST', '', both), [400, 'conversation'])
    assert.equal(await refusal('POST', '', { model, input: 'x', store: false, background: true }), [400, 'background'])
    assert.equal(await refusal('POST', '', { model, input: 'x', background: 'yes' }), [400, 'background'])
    for (const wrong of [{ store: 'yes' }, { max_output_tokens: 0 }, { max_output_tokens: 1.5 }])
      assert.equal(await refusal('POST', '', { model, input: 'x', ...wrong }), [400, null])
    assert.equal(await refusal('GET', `/${'x'.repeat(300)}`), [404, null])
    assert.equal(await refusal('DELETE', '/input_tokens'), [405, null])
  }))

test('a client that leaves in the middle of its answer, and an answer that breaks off, leave nothing behind', async () => {
  await using libraries = await openLibraries(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"id":"a","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')
      breakOff = () => response.destroy()
    },
    { maxRetries: 0 },
  )
  const { openai, url, provider } = libraries
  const left = openai.responses.stream({ model, input: 'One' })
  await failureOf(async () => {
    for await (const event of left) if (event.type === 'response.output_text.delta') left.abort()
  })
  await until(() => provider.received[0]?.cancelled === true)
  const broken = await openai.responses.create({ model, input: 'One', stream: true })
  let id = ''
  await failureOf(async () => {
    for await (const event of broken) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') breakOff()
    }
  })
  assert.match(id, /^resp_/)
  assert.instance(await failureOf(() => openai.responses.retrieve(id)), OpenAI.NotFoundError)
  assert.is(((await (await fetch(`${url}/api/responses`)).json()) as { responses: number }).responses, 0)
})

test('an answer that cannot be kept goes out all the same, whole or streamed, and says that it is not kept', () =>
  withLibraries(hearing(), async ({ openai, app }) => {
    await openai.responses.create({ model, input: 'One' })
    const remarks: string[] = []
    app.remarkListeners.add((message) => void remarks.push(message))
    const db = new BetterSqlite3(join(app.settings.paths.data, 'aichat.db'))
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON response BEGIN SELECT RAISE(ABORT, 'full'); END`)
    db.close()
    const whole = await openai.responses.create({ model, input: 'One' })
    const streamed = await openai.responses.stream({ model, input: 'One' }).finalResponse()
    assert.equal([whole.output_text, streamed.output_text], ['heard 1: One', 'heard 1: One'])
    assert.equal([storeOf(whole), storeOf(streamed), remarks.length], [false, false, 2])
  }))

test('another user, and another key of the same user, read nothing; a login reads what its keys made', async () => {
  await using daemon = await openKeyDaemon({ provider: hearing() })
  const { ada, bob, key } = daemon
  const clients = {
    bob: clientOf(daemon, bob.token),
    ada: clientOf(daemon, ada.token),
    one: clientOf(daemon, (await key(bob)).secret),
    two: clientOf(daemon, (await key(bob)).secret),
  }
  const ask = { model: 'm-one', input: 'One' }
  const made = {
    bob: await clients.bob.responses.create(ask),
    ada: await clients.ada.responses.create(ask),
    one: await clients.one.responses.create(ask),
  }
  const reads = async (who: keyof typeof clients, whose: keyof typeof made) => {
    const { id } = made[whose]
    const client = clients[who]
    const found = await client.responses.retrieve(id).then(
      () => true,
      ({ status }) => status !== 404,
    )
    const next = { ...ask, previous_response_id: id }
    const goesOn = await client.responses.create(next).then(
      () => true,
      ({ code }) => code !== 'previous_response_not_found',
    )
    const refer = { ...ask, input: [{ type: 'item_reference' as const, id: made[whose].output[0]!.id! }] }
    const refers = await client.responses.create(refer).then(
      () => true,
      ({ status }) => status !== 400,
    )
    assert.equal([goesOn, refers], [found, found], `${who} ${whose}`)
    return found
  }
  const readers = ['bob', 'ada', 'one', 'two'] as const
  const table = []
  for (const whose of ['bob', 'ada', 'one'] as const)
    for (const who of readers) if (await reads(who, whose)) table.push(`${who} reads ${whose}`)
  assert.equal(table, ['bob reads bob', 'ada reads ada', 'bob reads one', 'one reads one'])
  for (const who of ['ada', 'two'] as const)
    assert.instance(await failureOf(() => clients[who].responses.delete(made.one.id)), OpenAI.NotFoundError)
  await clients.one.responses.delete(made.one.id)
})

test('a persona goes on by the id too; her prompt is in no response, and her memories belong to one conversation', async () => {
  await using daemon = await openKeyDaemon({ provider: hearing() })
  const { bob, call, key } = daemon
  const persona = async (name: string) => {
    const memory_settings = { enabled: true }
    const body = { name, model: 'm-one', system_prompt: `I am ${name}.`, memory_settings }
    return (await call('POST', '/api/personas', { token: bob.token, body })).body.id as string
  }
  const mia = await persona('Mia')
  const leo = await persona('Leo')
  const client = clientOf(daemon, (await key(bob, { personas: ['Mia'] })).secret)
  const other = clientOf(daemon, (await key(bob, { personas: ['Leo'] })).secret)
  const ask = { model: 'persona:Mia' }
  const first = await client.responses.create({ ...ask, input: 'My cat is called Momo.' })
  const second = await client.responses.create({
    ...ask,
    input: 'My dog is called Rex.',
    previous_response_id: first.id,
  })
  const third = await client.responses.create({
    ...ask,
    input: 'My bird is called Pip.',
    previous_response_id: second.id,
  })
  assert.match(third.output_text, /I am Mia\./)
  assert.match(third.output_text, /Momo.*Rex.*Pip/)
  const kept = await client.responses.retrieve(third.id)
  assert.equal([kept.model, kept.instructions], ['persona:Mia', null])
  const { memories } = (await call('GET', `/api/personas/${mia}/memory`, { token: bob.token })).body
  const labels = Object.fromEntries(
    memories.map(({ content, metadata }: { content: string; metadata: object }) => [
      content,
      (metadata as { conversation?: string }).conversation,
    ]),
  )
  assert.ok(labels['My dog is called Rex.'])
  assert.is(labels['My bird is called Pip.'], labels['My dog is called Rex.'])
  const foreign = await failureOf(() =>
    other.responses.create({ model: 'persona:Leo', input: 'Hi', previous_response_id: third.id }),
  )
  assert.is(foreign['code'], 'previous_response_not_found')
  assert.is((await failureOf(() => client.responses.create({ model: 'persona:Leo', input: 'Hi' })))['status'], 403)
  assert.is((await failureOf(() => client.responses.create({ ...ask, input: 'Hi', store: true })))['status'], 400)
  assert.is((await call('GET', `/api/personas/${leo}/memory`, { token: bob.token })).body.total, 0)
})

test('a removed user takes the responses along; a user removes all of one’s own', async () => {
  await using daemon = await openKeyDaemon({ provider: hearing() })
  const { ada, bob, call } = daemon
  for (const { token } of [ada, bob])
    for (const input of ['One', 'Two']) await clientOf(daemon, token).responses.create({ model: 'm-one', input })
  const db = new BetterSqlite3(join(daemon.installation.home, 'aichat.db'))
  const rows = () => db.prepare('SELECT count(*) FROM response').pluck().get()
  assert.is(rows(), 4)
  assert.is((await call('DELETE', `/api/users/${bob.id}`, { token: ada.token })).status, 200)
  assert.is(db.prepare('SELECT count(*) FROM response_thread WHERE user_id = ?').pluck().get(bob.id), 0)
  const extent = await call('GET', '/api/responses', { token: ada.token })
  assert.equal([extent.body.responses, extent.body.keep_days], [2, 30])
  assert.equal((await call('DELETE', '/api/responses', { token: ada.token })).body, { deleted: 2 })
  // Hidden rows of both go with the next removal, which that was.
  assert.is(rows(), 0)
  db.close()
})

test('a provider of the Responses dialect gets the whole conversation, and is told to keep nothing', async () => {
  await using provider = await openStandIn(hearing('openai-responses' as DialectId))
  await withLibraries(hearing(), async ({ openai, app }) => {
    const endpoint = `${provider.url}/v1/responses`
    await app.plugins.install(pluginAt(provider.url, { id: 'own', endpoint, model_map: ['own-model'] }))
    await app.plugins.activate('own')
    const first = await openai.responses.create({ model: 'own-model', input: 'One' })
    await openai.responses.create({ model: 'own-model', input: 'Two', previous_response_id: first.id })
    const sent = JSON.parse(provider.received.at(-1)!.body)
    assert.equal([sent.store, sent.previous_response_id, sent.background], [false, undefined, undefined])
    assert.is(sent.input.length, 3)
  })
})

test.run()

let breakOff = () => {}

/** The library's type leaves the field out. */
function storeOf(response: object): unknown {
  return (response as { store?: unknown }).store
}

function clientOf({ url }: KeyDaemon, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}
