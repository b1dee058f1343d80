import * as assert from 'uvu/assert'
import { openUsers, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('chats that are kept as sessions')

const echo: Answer = (request, response) => {
  const { messages, stream } = JSON.parse(request.body)
  const text = `heard: ${messages.at(-1).content}`
  if (text.includes('SILENT')) return
  if (text.includes('FAIL')) return json(response, 400, { error: { message: 'not this' } })
  if (!stream) return json(response, 200, completion(text))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = completionEvents([text.slice(0, 9), text.slice(9)])
  if (text.includes('BREAK')) return void response.write(events.slice(0, 2).join(''), () => response.destroy())
  if (text.includes('WAIT')) return void response.write(events.slice(0, 2).join(''))
  response.end(events.join(''))
}

test('a kept chat becomes a session of its own, named after its question, with what was sent and who answered', async () => {
  await using all = await openUsers({ provider: echo })
  const files = [{ name: 'notes.md', bytes: 12 }]
  const answer = await ask(all, {
    keep: { files },
    model: 'custom-model',
    temperature: 0.5,
    seed: 7,
    tools: [],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Where does the night train\nleave?' },
    ],
  })
  const { id, name } = answer.aichat.session
  assert.is(name, 'Where does the night train')
  const { messages, cost } = (await all.ada('GET', `/api/sessions/${id}`)).body
  assert.is(cost, undefined)
  const [question, { timestamp, answer: record, ...reply }] = messages
  assert.equal([question.role, question.content], ['user', 'Where does the night train\nleave?'])
  assert.equal(reply, { role: 'assistant', content: 'heard: Where does the night train\nleave?' })
  const { duration_ms, input_tokens, output_tokens, ...rest } = record
  assert.ok(duration_ms >= 0 && input_tokens > 0 && output_tokens > 0 && timestamp > 0)
  assert.equal(rest, {
    model: 'custom-model',
    plugin: 'custom',
    finish_reason: 'stop',
    sent: { model: 'custom-model', prompt: 'Be brief.', options: { temperature: 0.5, seed: 7 }, files },
  })
  assert.not.ok('keep' in JSON.parse(all.provider.received[0]!.body))
  assert.is(
    (await ask(all, { keep: true, ...says('Where does the night train') })).aichat.session.name.replace(/\(.*/, '(…)'),
    `${name} (…)`,
  )
  const lookUp = { type: 'function', function: { name: 'look_up' } }
  const { session } = (await ask(all, { keep: true, tools: [lookUp], ...says('Look up') })).aichat
  const { messages: looked } = (await all.ada('GET', `/api/sessions/${session.id}`)).body
  assert.equal(looked[1].answer.sent, { tools: ['look_up'] })
  await all.ada('DELETE', `/api/sessions/${session.id}`)
  const events = await all.stream('ada', { keep: { title: 'Mine' }, stream: true, ...says('x') })
  assert.match(events, /"session":\{"id":"[^"]+","name":"Mine"\}/)
  assert.is((await all.ada('GET', '/api/sessions')).body.total, 3)
  await ask(all, says('not kept'))
  assert.is((await all.ada('GET', '/api/sessions')).body.total, 3)
  assert.is((await all.bob('GET', '/api/sessions')).body.total, 0)
})

test('names are short, on one line and never taken; a chat without words is named after its time', async () => {
  await using all = await openUsers({ provider: echo })
  const nameOf = async (content: unknown) =>
    (await ask(all, { keep: true, messages: [{ role: 'user', content }] })).aichat.session.name as string
  assert.is(await nameOf(`${'word '.repeat(30)}`), 'word word word word word word word word word…')
  assert.is(await nameOf('東'.repeat(100)), `${'東'.repeat(48)}…`)
  assert.is(await nameOf('a\u001b[31m\u202eb\t c'), 'a[31mb c')
  assert.match(await nameOf('\u200b'), /^\d{4}-\d\d-\d\d /)
  assert.is(
    await nameOf([
      { type: 'text', text: 'file' },
      { type: 'text', text: 'question' },
    ]),
    'question',
  )
  const same = await Promise.all(Array.from({ length: 14 }, () => nameOf('hi')))
  assert.is(new Set(same).size, 14)
  assert.ok(
    same.every((name) => /^hi(?: \(\d+ \w{3}[\d: ]*\)| [0-9a-f]{8})?$/.test(name)),
    same.join(),
  )
  for (const keep of ['yes', 1, { name: 'x' }, { title: 'x'.repeat(1001) }, { files: [{ name: 'x' }] }])
    assert.is((await all.ada('POST', '/api/chat', { keep, ...says('x') })).status, 400, JSON.stringify(keep))
})

test('a question that fails keeps nothing; an answer whose reader leaves is kept as far as it went, and marked', async () => {
  await using all = await openUsers({ provider: echo })
  const { body: talk } = await all.ada('POST', '/api/sessions', { name: 'Talk' })
  assert.is((await all.ada('POST', '/api/chat', { keep: true, ...says('FAIL') })).status, 400)
  await all.stream('ada', { keep: true, stream: true, ...says('BREAK') })
  assert.is((await all.ada('GET', '/api/sessions')).body.total, 1)
  for (const place of [{}, { session: talk.id }]) await leave(all, { keep: true, ...place, ...says('WAIT now') })
  await leave(all, { session: talk.id, ...says('WAIT unkept') })
  const kept = await until(async () => {
    const { sessions } = (await all.ada('GET', '/api/sessions')).body
    return sessions.length === 2 && sessions.every((each: { message_count: number }) => each.message_count === 2)
      ? sessions
      : undefined
  })
  for (const { id } of kept) {
    const { messages } = (await all.ada('GET', `/api/sessions/${id}`)).body
    const [question, { content, cut, answer }] = messages
    assert.equal([question.content, content, cut, answer.plugin], ['WAIT now', 'heard: WA', true, 'custom'])
  }
})

test("a persona's memory is the same whether its chat is kept or not, and the session knows its persona", () =>
  withUsers(
    async (all) => {
      const facts = ['I play the cello.', 'I live in Lisbon.']
      const seen: unknown[] = []
      for (const [name, keep] of [
        ['Mia', true],
        ['Nia', false],
      ] as const) {
        const path = await all.persona({ name, memory_settings: { enabled: true } })
        for (const fact of facts) await ask(all, { keep, persona: name, ...says(fact) })
        const { memories } = (await all.ada('GET', `${path}/memory`)).body
        seen.push(memories.map(({ content, metadata }: { content: string; metadata: object }) => [content, metadata]))
      }
      assert.equal(JSON.parse(JSON.stringify(seen[0]).replaceAll('Mia', 'Nia')), seen[1])
      const { sessions } = (await all.ada('GET', '/api/sessions')).body
      assert.equal(sessions.map(({ name }: { name: string }) => name).sort(), [
        'I live in Lisbon.',
        'I play the cello.',
      ])
      assert.ok(sessions.every(({ persona_id }: { persona_id?: string }) => persona_id))
      await ask(all, { session: 'I live in Lisbon.', ...says('And where do I live?') })
      const { messages } = JSON.parse(all.provider.received.at(-1)!.body)
      assert.ok(messages.some(({ content }: { content: string }) => content === 'heard: I live in Lisbon.'))
      await all.ada('POST', '/api/sessions/I%20play%20the%20cello./undo', {})
      const { memories } = (await all.ada('GET', `/api/personas/Mia/memory`)).body
      assert.not.ok(memories.some(({ content }: { content: string }) => content === 'I play the cello.'))
    },
    { provider: echo },
  ))

test('beyond the limit the oldest go that were neither renamed nor continued', async () => {
  await using all = await openUsers({ provider: echo, environment: { AICHAT_LIMIT_KEPT_CHATS_PER_USER: '3' } })
  for (const name of ['one', 'two', 'three']) await ask(all, { keep: true, ...says(name) })
  await all.ada('PUT', '/api/sessions/one', { name: 'first' }).catch(() => undefined)
  await ask(all, { session: 'two', ...says('go on') })
  for (const name of ['four', 'five', 'six']) await ask(all, { keep: true, ...says(name) })
  const { sessions } = (await all.ada('GET', '/api/sessions')).body
  assert.equal(sessions.map(({ name }: { name: string }) => name).sort(), ['first', 'five', 'four', 'six', 'two'])
})

test.run()

function says(content: string) {
  return { messages: [{ role: 'user', content }] }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
async function ask({ ada }: UserDaemon, body: object): Promise<any> {
  const answer = await ada('POST', '/api/chat', body)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Asks for a stream and leaves after its first text; leaves a question that is SILENT once the provider has it. */
async function leave({ url, provider }: UserDaemon, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer ada' }
  const controller = new AbortController()
  const { signal } = controller
  const asked = { method: 'POST', headers, body: JSON.stringify({ stream: true, ...body }), signal }
  const { length } = provider.received
  const answered = fetch(`${url}/api/chat`, asked)
  if (asked.body.includes('SILENT')) {
    while (provider.received.length === length) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    return void (await answered.catch(() => undefined))
  }
  const response = await answered
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of response.body!) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes('heard')) break
  }
  controller.abort()
}

/** The first value that is there: the server notices that a reader has left when it is told so. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error('It did not come')
}
