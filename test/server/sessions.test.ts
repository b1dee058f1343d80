import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { openUsers, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, completionEvents, json, localRunner } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('saved conversations over HTTP')

/** Answers with the number of messages and the text of the last one. */
const counting: Answer = (request, response) => {
  const { messages, stream } = JSON.parse(request.body)
  const text = `${messages.length}: ${messages.at(-1).content}`
  if (!stream) return json(response, 200, completion(text))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents([text.slice(0, 2), text.slice(2)]).join(''))
}

test('a session is begun, shown, renamed and removed', () =>
  withUsers(async ({ ada, persona }) => {
    const id = (await persona()).split('/').at(-1)
    const begun = await ada('POST', '/api/sessions', { name: ' Holidays ', persona: 'Mia' })
    assert.is(begun.status, 201)
    const { id: session, created_at, updated_at, ...rest } = begun.body
    assert.equal(rest, { user_id: 'ada-1', name: 'Holidays', persona_id: id, message_count: 0 })
    assert.is(created_at, updated_at)
    const other = await ada('POST', '/api/sessions', {})
    for (const named of [id, 'Mia'])
      assert.equal((await ada('GET', `/api/sessions?persona=${named}`)).body, { sessions: [begun.body], total: 1 })
    assert.is((await ada('GET', '/api/sessions?persona=Nobody')).status, 404)
    await ada('DELETE', `/api/sessions/${other.body.id}`)
    assert.equal((await ada('GET', '/api/sessions')).body, { sessions: [begun.body], total: 1 })
    for (const name of [session, 'Holidays'])
      assert.equal((await ada('GET', `/api/sessions/${name}`)).body, { ...begun.body, messages: [] })
    assert.is((await ada('PUT', `/api/sessions/${session}`, { pinned: true })).body.pinned, true)
    assert.is((await ada('GET', '/api/sessions?pinned=true')).body.total, 1)
    const renamed = await ada('PUT', `/api/sessions/${session}`, { name: 'Trips 旅行' })
    assert.equal([renamed.status, renamed.body.name, renamed.body.id], [200, 'Trips 旅行', session])
    assert.is((await ada('GET', '/api/sessions/Holidays')).status, 404)
    assert.is((await ada('GET', `/api/sessions/${encodeURIComponent('Trips 旅行')}`)).body.id, session)
    const removed = await ada('DELETE', `/api/sessions/${session}`)
    assert.equal([removed.status, removed.body], [200, { id: session, removed: true }])
    assert.is((await ada('DELETE', `/api/sessions/${session}`)).status, 404)
    assert.equal((await ada('GET', '/api/sessions')).body, { sessions: [], total: 0 })
  }))

test('a field that sessions do not know is refused by its name, and nothing is made or changed', () =>
  withUsers(async ({ ada }) => {
    const { id } = (await ada('POST', '/api/sessions', { name: 'Kept' })).body
    const messages = [{ role: 'user', content: 'Hello' }]
    for (const [method, path, body] of [
      ['POST', '/api/sessions', { name: 'New', persona_id: 'Mia' }],
      ['PUT', `/api/sessions/${id}`, { name: 'New', persona: 'Mia' }],
      ['POST', `/api/sessions/${id}/messages`, { messages, expected: 0 }],
      ['POST', `/api/sessions/${id}/undo`, { expected: 0 }],
    ] as const) {
      const { status, body: refused } = await ada(method, path, body)
      assert.is(status, 400, path)
      assert.match(JSON.stringify(refused.details), /persona|expected/)
    }
    const { sessions } = (await ada('GET', '/api/sessions')).body
    assert.equal([sessions.length, sessions[0].name, sessions[0].message_count], [1, 'Kept', 0])
  }))

test('a name is the user’s own, once; without one a session is named after its time', () =>
  withUsers(async ({ ada, bob }) => {
    const one = await ada('POST', '/api/sessions', { name: 'Work' })
    const again = await ada('POST', '/api/sessions', { name: 'Work' })
    assert.equal([again.status, again.body.code], [400, 'invalid'])
    const reused = await ada('POST', '/api/sessions', { name: 'Work', reuse: true })
    assert.is(reused.body.id, one.body.id)
    const his = await bob('POST', '/api/sessions', { name: 'Work', reuse: true })
    assert.not.equal(his.body.id, one.body.id)
    const unnamed = await ada('POST', '/api/sessions', {})
    assert.match(unnamed.body.name, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w{4}$/)
    const taken = await ada('PUT', `/api/sessions/${unnamed.body.id}`, { name: 'Work' })
    assert.equal([taken.status, taken.body.code], [400, 'invalid'])
    assert.is(
      (await ada('PUT', `/api/sessions/${one.body.id}`, { name: 'Work' })).status,
      200,
      'its own name it may keep',
    )
    for (const name of ['', '  ', 'x'.repeat(201), 7, null])
      assert.is((await ada('POST', '/api/sessions', { name })).status, 400, String(name))
    assert.is((await ada('POST', '/api/sessions', { persona: 'nobody' })).status, 404)
  }))

test('a session is found by its name in either form of its accents', () =>
  withUsers(async ({ ada }) => {
    const [composed, decomposed] = ['Caf\u00e9', 'Cafe\u0301']
    const { id } = (await ada('POST', '/api/sessions', { name: composed })).body
    assert.is((await ada('POST', '/api/sessions', { name: decomposed, reuse: true })).body.id, id)
    assert.is((await ada('GET', `/api/sessions/${encodeURIComponent(decomposed)}`)).body.id, id)
  }))

test('a session belongs to its user alone', async () => {
  await using users = await openUsers({ provider: counting })
  const { ada, bob, provider, persona } = users
  const mia = (await persona()).split('/').at(-1)
  const { body } = await ada('POST', '/api/sessions', { name: 'Secret' })
  const path = `/api/sessions/${body.id}`
  for (const [method, given] of [
    ['GET', undefined],
    ['PUT', { name: 7 }],
    ['DELETE', undefined],
  ] as const) {
    assert.is((await bob(method, path, given)).status, 403, method)
    assert.is((await bob(method, '/api/sessions/nobody', given)).status, 404, method)
    assert.is((await bob(method, '/api/sessions/Secret', given)).status, 404, method)
  }
  assert.is((await bob('POST', '/api/sessions', { persona: mia })).status, 403)
  const messages = [{ role: 'user', content: 'Hello there' }]
  assert.is((await bob('POST', '/api/chat', { session: body.id, messages })).status, 403)
  assert.is((await bob('POST', '/api/chat', { session: 'Secret', messages })).status, 404)
  assert.is(provider.received.length, 0)
  assert.equal((await bob('GET', '/api/sessions')).body, { sessions: [], total: 0 })
})

test('each turn is sent with what was said before, streamed or not, and is kept', async () => {
  await using all = await openUsers({ provider: counting })
  const { body: session } = await all.ada('POST', '/api/sessions', { name: 'Talk' })
  assert.is(await say(all, { session: 'Talk' }, 'one'), '1: one')
  await all.stream('ada', { session: session.id, stream: true, messages: [{ role: 'user', content: 'two' }] })
  assert.is(await say(all, { session: session.id }, 'three'), '5: three')
  assert.equal(pluck(sentTo(all), 'content'), ['one', '1: one', 'two', '3: two', 'three'])
  const { body } = await all.ada('GET', '/api/sessions/Talk')
  assert.is(body.message_count, 6)
  assert.equal(pluck(body.messages, 'role', 'content'), [
    ['user', 'one'],
    ['assistant', '1: one'],
    ['user', 'two'],
    ['assistant', '3: two'],
    ['user', 'three'],
    ['assistant', '5: three'],
  ])
  const times: number[] = body.messages.map(({ timestamp }: { timestamp: number }) => timestamp)
  assert.equal(times, [...times].sort())
  assert.is(body.updated_at, times.at(-1))
  assert.is(await say(all, {}, 'apart'), '1: apart', 'a chat without a session has no past')
})

test('the persona of a session answers in it, unless a request names another', async () => {
  await using all = await openUsers({ provider: counting })
  await all.persona({ system_prompt: 'You are Mia.' })
  await all.persona({ name: 'Nia', system_prompt: 'You are Nia.' })
  await all.ada('POST', '/api/sessions', { name: 'Talk', persona: 'Mia' })
  await say(all, { session: 'Talk' }, 'one')
  assert.equal(sentTo(all)[0], { role: 'system', content: 'You are Mia.' })
  await say(all, { session: 'Talk', persona: 'Nia' }, 'two')
  assert.equal(
    sentTo(all).map(({ role, content }) => (role === 'system' ? content : role)),
    ['You are Nia.', 'user', 'assistant', 'user'],
    'a prompt is no part of what is kept',
  )
})

test('a prompt of the request stands before what was said, and is not kept', async () => {
  await using all = await openUsers({ provider: counting })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  for (const content of ['one', 'two'])
    await all.ada('POST', '/api/chat', {
      session: 'Talk',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    })
  assert.equal(pluck(sentTo(all), 'role'), ['system', 'user', 'assistant', 'user'])
  assert.is((await all.ada('GET', '/api/sessions/Talk')).body.message_count, 4)
})

test('a conversation longer than its window loses its middle and says how much, never the prompt, the first or the last turn', async () => {
  await using all = await openUsers({
    provider: counting,
    plugin: { models: { 'custom-model': { context_window: 1_000 } } },
  })
  await all.persona({ model: 'custom-model', system_prompt: `You are Mia. ${'Be kind. '.repeat(20)}` })
  await all.ada('POST', '/api/sessions', { name: 'Talk', persona: 'Mia' })
  const long = (word: string) => `${word} ${'blah '.repeat(60)}`.trim()
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six']) await say(all, { session: 'Talk' }, long(word))
  const sent = sentTo(all)
  assert.match(sent[0]!.content, 'You are Mia.')
  assert.is(sent.filter(({ role }) => role === 'system').length, 1)
  assert.is(sent.at(-1)!.content, long('six'))
  assert.ok(sent.length < 12 && sent.length > 2, `${sent.length} messages`)
  assert.is(sent.length % 2, 0, 'whole turns go')
  assert.is(sent.at(-3)!.content, long('five'))
  assert.is(sent[1]!.content, long('one'))
  assert.not.ok(sent.some(({ content }) => content.startsWith('two')))
  const characters = sent.reduce((sum, { content }) => sum + content.length, 0)
  assert.ok(characters / 3 <= 1_000, 'it fits at three characters a token')
  assert.is((await all.ada('GET', '/api/sessions/Talk')).body.message_count, 12, 'nothing is forgotten')
  // The newest message is sent even if it exceeds the context.
  const huge = 'word '.repeat(2_000).trim()
  const ask = { session: 'Talk', messages: [{ role: 'user', content: huge }] }
  const response = await all.ada('POST', '/api/chat', ask)
  const warning = /^12 earlier messages \(about \d{3,4} tokens\) left out: custom-model takes 1000 tokens at once$/
  assert.match(response.headers.get('x-aichat-warnings')!, warning)
  assert.match(response.body.aichat.warnings[0], warning)
  assert.match(await all.stream('ada', { ...ask, stream: true }), /"warnings":\["14 earlier messages \(about /)
  assert.equal(
    sentTo(all).map(({ role, content }) => [role, content.length]),
    [
      ['system', sent[0]!.content.length],
      ['user', huge.length],
    ],
  )
})

test('a conversation goes out whole to a model whose window is unknown, and is cut for the local runner', async () => {
  await using all = await openUsers({ provider: counting, runner: localRunner() })
  const text = 'All that I know of the matter. '.repeat(5_700)
  const again = { session: 'Talk', messages: [{ role: 'user', content: 'And again?' }] }
  for (const persona of [undefined, (await all.persona({ model: 'custom-model' })).split('/').at(-1)]) {
    await all.ada('POST', '/api/sessions', { name: 'Talk', ...(persona && { persona }) })
    await say(all, { session: 'Talk' }, text)
    for (const turn of [1, 2]) {
      await all.stream('ada', { ...again, stream: turn === 2 })
      const spoken = sentTo(all).filter(({ role }) => role !== 'system')
      assert.equal([spoken.length, spoken[0]!.content.length], [1 + 2 * turn, text.length])
    }
    if (!persona) await all.ada('DELETE', '/api/sessions/Talk')
  }
  const own = { model: 'local:llama3', messages: [{ role: 'user', content: text }] }
  assert.match(
    (await all.ada('POST', '/v1/chat/completions', own)).headers.get('x-aichat-warnings')!,
    /^llama3:latest takes 4096 tokens at once: of the request, about \d+, its runner may leave out the beginning$/,
  )
  const { headers, body } = await all.ada('POST', '/api/chat', { ...again, model: 'local:llama3' })
  assert.match(headers.get('x-aichat-warnings')!, /^2 earlier messages .* left out: llama3:latest takes 4096 tokens/)
  assert.is(body.aichat.warnings.length, 1)
  const { messages } = JSON.parse(all.runner.received.at(-1)!.body)
  assert.equal(
    messages.map(({ content }: Sent) => content).filter((content: string) => content === 'And again?').length,
    3,
  )
})

test('an answer that breaks off leaves the conversation as it was', async () => {
  await using all = await openUsers({
    provider(request, response) {
      if (!request.body.includes('BREAK')) return counting(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(completionEvents(['Hello', ' there']).slice(0, 2).join(''), () => response.destroy())
    },
  })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  await say(all, { session: 'Talk' }, 'one')
  const before = (await all.ada('GET', '/api/sessions/Talk')).body
  const messages = [{ role: 'user', content: 'BREAK' }]
  assert.match(await all.stream('ada', { session: 'Talk', stream: true, messages }), 'event: error')
  assert.is((await all.ada('POST', '/api/chat', { session: 'Talk', messages, fallback: false })).status, 503)
  assert.equal((await all.ada('GET', '/api/sessions/Talk')).body, before)
  assert.is(await say(all, { session: 'Talk' }, 'two'), '3: two')
})

for (const streamed of [false, true]) {
  const how = streamed ? 'streamed' : 'whole'
  test(`a tool call is part of the conversation, and so is its result (${how})`, () =>
    withUsers(
      async (all) => {
        await all.ada('POST', '/api/sessions', { name: 'Talk' })
        const body = { session: 'Talk', stream: streamed, tools }
        await all.stream('ada', { ...body, messages: [{ role: 'user', content: 'What is the time?' }] })
        await all.stream('ada', { ...body, messages: [{ role: 'tool', tool_call_id: 'call_1', content: '12:00' }] })
        const sent = sentTo(all)
        assert.equal(pluck(sent, 'role'), ['user', 'assistant', 'tool'])
        assert.equal(sent[1]!.tool_calls?.[0]?.function, { name: 'clock', arguments: '{"zone":"UTC"}' })
        assert.is(sent[1]!.tool_calls?.[0]?.id, 'call_1')
      },
      { provider: calling },
    ))
}

test('a session that is removed while an answer comes is a warning beside the answer', () => {
  let remove: () => Promise<unknown> = async () => {}
  return withUsers(
    async (all) => {
      remove = () => all.ada('DELETE', '/api/sessions/Talk')
      const { body: session } = await all.ada('POST', '/api/sessions', { name: 'Talk' })
      const answer = await all.ada('POST', '/api/chat', {
        session: session.id,
        messages: [{ role: 'user', content: 'remove it' }],
      })
      assert.equal([answer.status, answer.body.choices[0].message.content], [200, 'done'])
      assert.match(answer.body.aichat.warnings.join(), 'could not be saved')
      assert.is((await all.ada('GET', `/api/sessions/${session.id}`)).status, 404)
    },
    {
      async provider(_request, response) {
        await remove()
        json(response, 200, completion('done'))
      },
    },
  )
})

test.run()

interface Sent {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: unknown }[]
}

const tools = [{ type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }]

/** Calls a tool, and answers with its result. */
const calling: Answer = (request, response) => {
  const { messages, stream } = JSON.parse(request.body)
  if (messages.at(-1).role === 'tool') {
    if (!stream) return json(response, 200, completion('It is noon.'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return void response.end(completionEvents(['It is noon.']).join(''))
  }
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }
  const base = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'stand-in' }
  if (!stream) {
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    return json(response, 200, { ...base, object: 'chat.completion', choices })
  }
  const event = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const piece = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(
    [
      event({
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, ...call, function: { name: 'clock', arguments: '' } }],
      }),
      event(piece('{"zone":')),
      event(piece('"UTC"}')),
      event({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join(''),
  )
}

async function say(all: UserDaemon, fields: object, content: string): Promise<string> {
  const { status, body } = await all.ada('POST', '/api/chat', { ...fields, messages: [{ role: 'user', content }] })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.choices[0].message.content
}

function sentTo({ provider: { received } }: UserDaemon): Sent[] {
  return JSON.parse(received.at(-1)!.body).messages
}
