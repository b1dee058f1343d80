// Some with --all only: many processes.
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { failureOf, withLibraries } from '../helpers/program/client-libraries.ts'
import { suite } from '../helpers/suite.ts'
import { hearing } from './hearing-model.ts'
import { openKeyDaemon } from './key-daemon.ts'

const test = suite('conversations of the Responses API, with OpenAI’s client library')

const model = 'custom-model'

const said = (content: string) => ({ role: 'user' as const, content })

test('a conversation is made, read, labelled and removed, and so are its items', () =>
  withLibraries(hearing(), async ({ openai }) => {
    const made = await openai.conversations.create({ metadata: { topic: 'demo' }, items: [said('One')] })
    assert.match(made.id, /^conv_[0-9a-f]{32}$/)
    assert.equal([made.object, made.metadata], ['conversation', { topic: 'demo' }])
    assert.ok(Math.abs(made.created_at - Date.now() / 1000) < 60)
    assert.equal(await openai.conversations.retrieve(made.id), made)
    const changed = await openai.conversations.update(made.id, { metadata: { topic: 'other' } })
    assert.equal(changed, { ...made, metadata: { topic: 'other' } })
    const unknown = { type: 'weather_report', id: 'wr_1', sun: { hours: 3 } }
    const items = [said('Two'), { role: 'assistant', content: 'Three' }, unknown, { ...said('Four'), id: 'wr_1' }]
    const added = await openai.conversations.items.create(made.id, { items: items as never })
    assert.equal(added.data[2] as unknown, unknown)
    const [two, three, , four] = added.data as unknown as Record<string, unknown>[]
    const { id, ...message } = two!
    assert.match(String(id), /^msg_/)
    assert.equal(message, {
      status: 'completed',
      role: 'user',
      type: 'message',
      content: [{ type: 'input_text', text: 'Two' }],
    })
    assert.equal((three!['content'] as { type: string }[])[0]?.type, 'output_text')
    // Each item of a conversation has an id of its own.
    assert.is.not(four!['id'], 'wr_1')
    const listed = []
    for await (const item of openai.conversations.items.list(made.id, { limit: 2, order: 'asc' })) listed.push(item)
    assert.equal(listed.slice(1), added.data)
    const page = await openai.conversations.items.list(made.id, { limit: 1 })
    assert.equal([page.data[0]?.id, page.has_more], [four!['id'], true])
    assert.equal(await openai.conversations.items.retrieve('wr_1', { conversation_id: made.id }), unknown as never)
    assert.equal(await openai.conversations.items.delete('wr_1', { conversation_id: made.id }), changed)
    assert.instance(
      await failureOf(() => openai.conversations.items.retrieve('wr_1', { conversation_id: made.id })),
      OpenAI.NotFoundError,
    )
    assert.equal((await openai.conversations.items.list(made.id, { limit: 100 })).data.length, 4)
    assert.instance(await failureOf(() => openai.responses.retrieve(made.id)), OpenAI.NotFoundError)
    assert.instance(await failureOf(() => openai.responses.delete(made.id)), OpenAI.NotFoundError)
    const behind = await failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: made.id }))
    assert.is(behind['code'], 'previous_response_not_found')
    assert.equal(await openai.conversations.delete(made.id), {
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    })
    for (const call of [
      () => openai.conversations.retrieve(made.id),
      () => openai.conversations.update(made.id, { metadata: {} }),
      () => openai.conversations.delete(made.id),
      async () => openai.conversations.items.list(made.id),
      () => openai.conversations.items.create(made.id, { items: [said('x')] }),
      () => openai.conversations.items.retrieve('msg_x', { conversation_id: made.id }),
      () => openai.conversations.items.delete('msg_x', { conversation_id: made.id }),
      () => openai.responses.create({ model, input: 'x', conversation: made.id }),
    ]) {
      const failure = await failureOf(call)
      assert.instance(failure, OpenAI.NotFoundError)
      assert.match(failure.message, made.id)
    }
  }))

test('a response takes its conversation along and adds to it: whole, streamed, in the background and with store: false', () =>
  withLibraries(hearing(), async ({ openai, provider }) => {
    const { id } = await openai.conversations.create({ items: [said('Zero')] })
    const whole = await openai.responses.create({ model, input: 'One', conversation: id })
    assert.equal(whole.conversation, { id })
    assert.is(whole.output_text, 'heard 2: Zero | One')
    const stream = openai.responses.stream({ model, input: [said('Two')], conversation: { id } })
    const streamed = await stream.finalResponse()
    assert.is(streamed.output_text, `heard 4: Zero | One | ${whole.output_text} | Two`)
    assert.equal((await openai.responses.retrieve(streamed.id)).conversation, { id })
    const queued = await openai.responses.create({ model, input: 'Three', conversation: id, background: true })
    assert.equal(queued.conversation, { id })
    let ended = queued
    while (ended.status === 'queued' || ended.status === 'in_progress')
      ended = await openai.responses.retrieve(queued.id)
    assert.match(ended.output_text, /^heard 6: Zero .* Three$/)
    const unkept = await openai.responses.create({ model, input: 'Four', conversation: id, store: false })
    assert.match(unkept.output_text, /^heard 8: Zero /)
    assert.instance(await failureOf(() => openai.responses.retrieve(unkept.id)), OpenAI.NotFoundError)
    const texts = []
    for await (const item of openai.conversations.items.list(id, { order: 'asc', limit: 3 }))
      texts.push(item.type === 'message' && item.content.map((part) => 'text' in part && part.text).join(''))
    const answers = [whole, streamed, ended, unkept].map(({ output_text: text }) => text)
    assert.equal(texts, ['Zero', ...['One', 'Two', 'Three', 'Four'].flatMap((text, at) => [text, answers[at]])])
    // Its responses stay without it, and nothing is asked of a provider about a conversation.
    assert.is(JSON.parse(provider.received.at(-1)!.body).conversation, undefined)
    await openai.conversations.delete(id)
    assert.is((await openai.responses.retrieve(whole.id)).output_text, whole.output_text)
    const count = await openai.responses.inputTokens.count({ model, input: 'x', previous_response_id: whole.id })
    assert.ok(count.input_tokens > 3)
  }))

test('a tool’s output alone goes on with the call in its conversation', () =>
  withLibraries(hearing(), async ({ openai }) => {
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }]
    const { id } = await openai.conversations.create()
    const asked = await openai.responses.create({ model, input: 'Weather?', tools, conversation: id })
    const call = asked.output.find((item) => item.type === 'function_call')!
    const input = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' }]
    const answer = await openai.responses.create({ model, input, tools, conversation: id })
    assert.match(answer.output_text, /Weather\?.*sunny/)
    const { data } = await openai.conversations.items.list(id, { order: 'asc' })
    assert.equal(
      data.map(({ type }) => type),
      ['message', 'function_call', 'function_call_output', 'message'],
    )
  }))

test('an answer that fails adds nothing', async () => {
  let fails = true
  const answer = hearing()
  await withLibraries(
    (request, response) => (fails ? void response.writeHead(400).end('{}') : answer(request, response)),
    async ({ openai }) => {
      const { id } = await openai.conversations.create({ items: [said('Zero')] })
      await failureOf(() => openai.responses.create({ model, input: 'One', conversation: id }))
      const queued = await openai.responses.create({ model, input: 'One', conversation: id, background: true })
      let ended = queued
      while (ended.status !== 'failed') ended = await openai.responses.retrieve(queued.id)
      fails = false
      assert.is(
        (await openai.responses.create({ model, input: 'Two', conversation: id })).output_text,
        'heard 2: Zero | Two',
      )
    },
    { maxRetries: 0 },
  )
})

test('another user, and another key of the same user, find no conversation and no item of it', async () => {
  await using daemon = await openKeyDaemon({ provider: hearing() })
  const { ada, bob, key, call } = daemon
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey, maxRetries: 0 })
  const owner = clientOf((await key(bob)).secret)
  const others = [ada.token, (await key(bob)).secret].map(clientOf)
  const { id } = await owner.conversations.create({ items: [{ ...said('Mine'), id: 'msg_mine' } as never] })
  const ask = { model: 'm-one', conversation: id, input: 'x' }
  for (const client of others) {
    const own = await client.conversations.create()
    for (const attempt of [
      () => client.conversations.retrieve(id),
      () => client.conversations.update(id, { metadata: { hers: 'no' } }),
      () => client.conversations.delete(id),
      async () => client.conversations.items.list(id),
      () => client.conversations.items.create(id, { items: [said('x')] }),
      () => client.conversations.items.retrieve('msg_mine', { conversation_id: id }),
      () => client.conversations.items.delete('msg_mine', { conversation_id: id }),
      () => client.conversations.items.retrieve('msg_mine', { conversation_id: own.id }),
      () => client.conversations.items.delete('msg_mine', { conversation_id: own.id }),
      () => client.responses.create(ask),
      () => client.responses.create({ ...ask, background: true }),
    ])
      assert.instance(await failureOf(attempt), OpenAI.NotFoundError)
  }
  for (const client of [owner, clientOf(bob.token)]) {
    const { data } = await client.conversations.items.list(id)
    assert.equal(
      data.map((item) => item.id),
      ['msg_mine'],
    )
  }
  assert.is((await call('GET', '/api/responses', { token: bob.token })).body.responses, 2)
  assert.is((await call('DELETE', `/api/users/${bob.id}`, { token: ada.token })).status, 200)
  const db = new BetterSqlite3(join(daemon.installation.home, 'aichat.db'))
  assert.is(db.prepare('SELECT count(*) FROM response_thread WHERE user_id = ?').pluck().get(bob.id), 0)
  db.close()
})

test('what OpenAI refuses is refused, and so is an item that no request could send', () =>
  withLibraries(hearing(), async ({ openai, url }) => {
    const { id } = await openai.conversations.create()
    const refusal = async (path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const { error } = (await answer.json()) as { error: { param: string | null; code: string | null } }
      return [answer.status, error.param, error.code]
    }
    const both = { model, input: 'x', conversation: id, previous_response_id: 'resp_1' }
    assert.equal(await refusal('/responses', both), [400, 'conversation', 'mutually_exclusive_parameters'])
    for (const conversation of [7, {}, { id: 7 }])
      assert.equal((await refusal('/responses', { model, input: 'x', conversation }))[1], 'conversation')
    assert.is((await refusal('/responses', { model, input: 'x', conversation: 'thread_1' }))[0], 404)
    const many = Array.from({ length: 21 }, () => said('x'))
    for (const items of [many, 'x', [7], undefined, [{ type: 'item_reference', id: 'msg_1' }]])
      assert.equal((await refusal(`/conversations/${id}/items`, { items })).slice(0, 2), [400, 'items'], String(items))
    for (const item of [{ type: 'message', content: 'x' }, { type: 'function_call', call_id: 'c' }, {}])
      assert.is((await refusal(`/conversations/${id}/items`, { items: [item] }))[0], 400)
    const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))
    for (const metadata of [labels(17), { k: 7 }, { ['k'.repeat(65)]: 'v' }, { k: 'v'.repeat(513) }, 'x', []])
      assert.equal((await refusal('/conversations', { metadata })).slice(0, 2), [400, 'metadata'])
    assert.equal((await openai.conversations.create({ metadata: labels(16) })).metadata, labels(16))
    assert.equal((await openai.conversations.items.list(id)).data, [])
  }))

test.whole(
  'a conversation takes 5,000 items and no more, all of which a model gets; it expires unused, as responses do',
  () =>
    withLibraries(hearing(), async ({ openai, app }) => {
      const { id } = await openai.conversations.create()
      const items = Array.from({ length: 20 }, (_, at) => said(`n${at}`))
      let added = 0
      let refused = 0
      for (let at = 0; at < 253; at++)
        await openai.conversations.items.create(id, { items }).then(
          () => added++,
          ({ status, param }) => {
            assert.equal([status, param], [400, 'items'])
            refused++
          },
        )
      assert.equal([added, refused], [250, 3])
      const tooLong = await failureOf(() => openai.responses.create({ model, input: 'x', conversation: id }))
      assert.is(tooLong['code'], 'context_length_exceeded')
      const { data } = await openai.conversations.items.list(id, { limit: 2 })
      for (const item of data) await openai.conversations.items.delete(item.id!, { conversation_id: id })
      const answer = await openai.responses.create({ model, input: 'last', conversation: id })
      assert.match(answer.output_text, /^heard 4999: n0 .*last$/)
      const db = new BetterSqlite3(join(app.settings.paths.data, 'aichat.db'))
      db.exec(`UPDATE response SET created_at = created_at - 31 * 86400000;
      UPDATE response_thread SET used_at = used_at - 31 * 86400000`)
      db.close()
      assert.instance(await failureOf(() => openai.conversations.retrieve(id)), OpenAI.NotFoundError)
      assert.instance(
        await failureOf(() => openai.conversations.items.create(id, { items: [said('x')] })),
        OpenAI.NotFoundError,
      )
    }),
)

test('where nothing is kept no conversation is', () =>
  withLibraries(
    hearing(),
    async ({ openai }) => {
      assert.match((await failureOf(() => openai.conversations.create())).message, /keeps no conversations/)
      const missing = await failureOf(() => openai.responses.create({ model, input: 'x', conversation: 'conv_1' }))
      assert.match(missing.message, /keeps no responses/)
    },
    { environment: { AICHAT_RESPONSES_KEEP_DAYS: '0' } },
  ))

test.run()
