import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { openUsers, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('messages of a saved conversation are added and taken back without a model')

const echo: Answer = (request, response) => {
  const { messages } = JSON.parse(request.body)
  return json(response, 200, completion(`heard: ${messages.at(-1).content}`))
}

test('a question and a cut answer are added; the next model is told that the answer was cut', async () => {
  await using all = await openUsers({ provider: echo })
  const { body: session } = await all.ada('POST', '/api/sessions', { name: 'Talk' })
  const added = await all.ada('POST', '/api/sessions/Talk/messages', {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Count.' }] },
      { role: 'assistant', content: 'One, two, ', cut: true },
    ],
    expected_messages: 0,
  })
  assert.equal([added.status, added.body.message_count], [200, 2])
  assert.is(all.provider.received.length, 0)
  const { body } = await all.ada('GET', '/api/sessions/Talk')
  assert.equal(shown(body.messages), [
    { role: 'user', content: 'Count.' },
    { role: 'assistant', content: 'One, two, ', cut: true },
  ])
  await say(all, { session: session.id }, 'Go on.')
  assert.equal(JSON.parse(all.provider.received[0]!.body).messages, [
    { role: 'user', content: 'Count.' },
    { role: 'assistant', content: 'One, two,\n\n[The answer was cut off here.]' },
    { role: 'user', content: 'Go on.' },
  ])
})

test('a session goes on from one of its messages in another way, and both stay', async () => {
  await using all = await openUsers({ provider: echo })
  const { body: trunk } = await all.ada('POST', '/api/sessions', { name: 'Talk' })
  for (const text of ['one', 'two']) await say(all, { session: trunk.id }, text)
  const path = `/api/sessions/${trunk.id}`
  const branchOf = async (id: string, messages: number) => {
    const { status, body } = await all.ada('POST', `/api/sessions/${id}/branch`, { messages })
    assert.is(status, 201)
    return body
  }
  const first = await branchOf(trunk.id, 2)
  await say(all, { session: first.id }, 'another two')
  // One that leaves a branch among the messages that it shares with its source has left the source.
  const second = await branchOf(first.id, 2)
  const third = await branchOf(first.id, 4)
  assert.equal(
    [first, second, third].map(({ name, branch, message_count: count }) => [name, branch.of, branch.at, count]),
    [
      ['Talk (2)', trunk.id, 2, 2],
      ['Talk (3)', trunk.id, 2, 2],
      ['Talk (4)', first.id, 4, 4],
    ],
  )
  assert.equal(
    (await all.ada('GET', `/api/sessions/${first.id}`)).body.messages.map(
      ({ content }: { content: string }) => content,
    ),
    ['one', 'heard: one', 'another two', 'heard: another two'],
  )
  const { body: shown } = await all.ada('GET', path)
  assert.is(shown.messages.length, 4)
  assert.equal(
    shown.family.map(({ name }: { name: string }) => name),
    ['Talk', 'Talk (2)', 'Talk (3)', 'Talk (4)'],
  )
  const { status, body } = await all.ada('POST', `${path}/branch`, { messages: 5 })
  assert.equal([status, body.error], [400, 'The session "Talk" has 4 messages: it cannot go on from 5'])
  assert.is((await all.bob('POST', `${path}/branch`, { messages: 1 })).status, 403)
})

test('the last exchange is taken back whole, again and again, until there is none', async () => {
  await using all = await openUsers({ provider: echo })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  for (const content of ['one', 'two']) await say(all, { session: 'Talk' }, content)
  const undone = await all.ada('POST', '/api/sessions/Talk/undo', { expected_messages: 4 })
  assert.equal([undone.status, undone.body.message_count], [200, 2])
  assert.equal(shown(undone.body.taken), [
    { role: 'user', content: 'two' },
    { role: 'assistant', content: 'heard: two' },
  ])
  await say(all, { session: 'Talk' }, 'three')
  const sent = JSON.parse(all.provider.received.at(-1)!.body).messages as { content: string }[]
  assert.equal(pluck(sent, 'content'), ['one', 'heard: one', 'three'])
  for (const left of [2, 0]) assert.is((await all.ada('POST', '/api/sessions/Talk/undo', {})).body.message_count, left)
  const none = await all.ada('POST', '/api/sessions/Talk/undo', {})
  assert.equal([none.status, none.body.error], [400, 'Nothing was asked in the session "Talk" yet'])
})

test('what an undone exchange added to the memory goes with it; what was known before stays', async () => {
  await using all = await openUsers({ provider: echo })
  const path = await all.persona({ memory_settings: { enabled: true } })
  const memories = async () =>
    (await all.ada('GET', `${path}/memory`)).body.memories.map(({ content }: { content: string }) => content).sort()
  await all.ada('POST', '/api/sessions', { name: 'Talk', persona: 'Mia' })
  await say(all, { session: 'Talk' }, 'I play the cello.')
  const before = await memories()
  assert.ok(before.includes('I play the cello.'))
  await say(all, { session: 'Talk' }, 'I live in Lisbon.')
  assert.ok((await memories()).includes('I live in Lisbon.'))
  await all.ada('POST', '/api/sessions/Talk/undo', {})
  assert.equal(await memories(), before)
  await say(all, { session: 'Talk' }, 'I play the cello.')
  await all.ada('POST', '/api/sessions/Talk/undo', {})
  assert.equal(await memories(), before, 'said a second time, it was there before')
  await all.ada('DELETE', path)
  assert.is((await all.ada('POST', '/api/sessions/Talk/undo', {})).status, 200)
})

test('a session that holds other messages than expected is a conflict, and stays as it is', async () => {
  await using all = await openUsers({ provider: echo })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  await say(all, { session: 'Talk' }, 'one')
  const messages = [{ role: 'user', content: 'late' }]
  for (const [path, body] of [
    ['messages', { messages, expected_messages: 0 }],
    ['undo', { expected_messages: 4 }],
  ] as const) {
    const refused = await all.ada('POST', `/api/sessions/Talk/${path}`, body)
    assert.equal([refused.status, refused.body.code], [409, 'conflict'])
    assert.match(refused.body.error, 'it holds 2 messages')
  }
  const both = await Promise.all([1, 2].map(() => all.ada('POST', '/api/sessions/Talk/undo', { expected_messages: 2 })))
  assert.equal(both.map(({ status }) => status).sort(), [200, 409])
})

test('messages are checked, and a session is changed by its user alone', () =>
  withUsers(async ({ ada, bob }) => {
    const { body } = await ada('POST', '/api/sessions', { name: 'Talk' })
    const path = `/api/sessions/${body.id}/messages`
    const good = { role: 'user', content: 'x' }
    for (const messages of [
      undefined,
      [],
      'x',
      [{ role: 'system', content: 'x' }],
      [{ role: 'user', content: '' }],
      [{ role: 'user', content: [] }],
      [{ role: 'user', content: 7 }],
      [{ ...good, cut: true }],
      [{ ...good, cost: 5 }],
      Array.from({ length: 101 }, () => good),
    ])
      assert.is((await ada('POST', path, { messages })).status, 400, JSON.stringify(messages)?.slice(0, 80))
    for (const expected_messages of [-1, 1.5, 'x'])
      assert.is((await ada('POST', path, { messages: [good], expected_messages })).status, 400)
    assert.is((await bob('POST', path, { messages: [good] })).status, 403)
    assert.is((await bob('POST', `/api/sessions/${body.id}/undo`, {})).status, 403)
    assert.is((await ada('POST', '/api/sessions/gone/undo', {})).status, 404)
    assert.is((await ada('GET', `/api/sessions/${body.id}`)).body.message_count, 0)
  }))

test.run()

async function say(all: UserDaemon, fields: object, content: string): Promise<void> {
  const { status, body } = await all.ada('POST', '/api/chat', { ...fields, messages: [{ role: 'user', content }] })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

function shown(messages: readonly { timestamp: number; answer?: object }[]): readonly object[] {
  return messages.map(({ timestamp: _, answer: _record, ...rest }) => rest)
}
