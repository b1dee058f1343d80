import * as assert from 'uvu/assert'
import { pluginAt } from '../helpers/program/installation.ts'
import { openUsers, type UserDaemon } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('saved conversations with a summary in place of their beginning')

/** Answers a request for a summary with one, and others with their number of messages. */
function summarising(summary: string, status = 200): Answer {
  return (request, response) => {
    const { messages } = JSON.parse(request.body)
    const isSummary = messages.at(-1).content.startsWith('Summarise the conversation')
    if (isSummary && status !== 200) return json(response, status, { error: { message: 'overloaded' } })
    json(response, 200, completion(isSummary ? summary : `${messages.length} messages`))
  }
}

const long = (word: string) => `${word} ${'blah '.repeat(200)}`.trim()

const sent = ({ provider }: UserDaemon): { role: string; content: string }[] =>
  JSON.parse(provider.received.at(-1)!.body).messages

const say = (all: UserDaemon, content: string) =>
  all.ada('POST', '/api/chat', { session: 'Talk', messages: [{ role: 'user', content }] })

async function open(answer: Answer): Promise<UserDaemon & AsyncDisposable> {
  const all = await openUsers({ provider: answer, waits: { retry: 1 } })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  for (const word of ['one', 'two', 'three', 'four']) await say(all, long(word))
  return all
}

const compact = (all: UserDaemon, body = {}) => all.ada('POST', '/api/sessions/Talk/compact', body)

test('a summary replaces the earlier messages in what is sent; they stay in the session, and can be sent again', async () => {
  await using all = await open(summarising('They spoke of one and two.'))
  const { status, body } = await compact(all)
  assert.equal([status, body.replaces, body.summary], [200, 4, 'They spoke of one and two.'])
  assert.ok(body.length.after < body.length.before)
  assert.equal(sent(all).length, 5, 'the first four messages and the wish')
  await say(all, 'five')
  const [opening, summary, ...rest] = sent(all)
  assert.is(opening!.role, 'user')
  assert.match(summary!.content, /^Summary of the conversation so far.*\n\nThey spoke of one and two\.$/)
  assert.equal(
    rest.map(({ content }) => content.split(' ')[0]),
    ['three', '5', 'four', '7', 'five'],
  )
  const shown = (await all.ada('GET', '/api/sessions/Talk')).body
  assert.equal([shown.message_count, shown.messages[0].content], [11, long('one')])
  assert.equal([shown.messages[8].role, shown.messages[8].answer.compacts], ['system', 4])
  // A later summary is made of the earlier one and what followed.
  assert.is((await compact(all, { turns: 1 })).body.replaces, 9)
  assert.match(sent(all)[0]!.content, 'Summary of the conversation so far')
  await say(all, 'six')
  assert.equal(
    sent(all)
      .slice(1)
      .map(({ content }) => content.split(' ')[0]),
    ['Summary', 'five', '7', 'six'],
  )
  assert.equal((await compact(all, { undo: true })).body, { replaces: 0 })
  await say(all, 'seven')
  assert.equal([sent(all)[0]!.content, sent(all).length], [long('one'), 13])
  assert.is((await compact(all, { undo: true })).status, 400)
})

for (const [what, answer, status] of [
  ['that fails', summarising('', 503), 503],
  ['that is empty', summarising(' '), 422],
  ['that is longer than what it replaces', summarising('word '.repeat(2_000)), 422],
] as const)
  test(`a summary ${what} changes nothing`, async () => {
    await using all = await open(answer)
    assert.is((await compact(all)).status, status)
    assert.is((await all.ada('GET', '/api/sessions/Talk')).body.message_count, 8)
    await say(all, 'five')
    assert.equal([sent(all).length, sent(all)[0]!.content], [9, long('one')])
  })

test('of two summaries at once the second is refused, and a summary of a part says what it was made without', async () => {
  await using all = await open(summarising('They spoke.'))
  const both = await Promise.all([compact(all), compact(all)])
  assert.equal(both.map(({ status }) => status).sort(), [200, 409])
  assert.match(both.find(({ status }) => status === 409)!.body.error, /changed meanwhile/)
  assert.is((await all.ada('GET', '/api/sessions/Talk')).body.message_count, 9)
  const models = { 'custom-model': { context_window: 1_000 } }
  await all.installation.app.plugins.update('custom', { ...pluginAt(all.provider.url), models })
  for (const word of ['five', 'six', 'seven', 'eight', 'nine']) await say(all, long(word))
  const { status, body } = await compact(all)
  assert.equal([status, body.replaces], [200, 15])
  assert.match(body.warnings[0], /^\d+ earlier messages \(about \d+ tokens\) left out: custom-model takes 1000 tokens/)
})

test('a short conversation has nothing to summarise, and that of another user cannot be summarised', async () => {
  await using all = await openUsers({ provider: summarising('Short.') })
  const { id } = (await all.ada('POST', '/api/sessions', { name: 'Talk' })).body
  await say(all, 'one')
  assert.match((await compact(all)).body.error, /too short/)
  assert.is((await all.bob('POST', `/api/sessions/${id}/compact`, {})).status, 403)
  assert.is(all.provider.received.length, 1)
})

test.run()
