import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { openUsers, withUsers } from '../helpers/program/user-daemon.ts'
import { completion, completionEvents, json, localRunner } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const message = [{ role: 'user', content: 'a word that is nobody else’s business' }]

const test = suite('requests that are followed')

test('a chat that fell back tells every attempt and why, and nothing of what was said', async () => {
  await using users = await openUsers({
    provider: (_, response) => json(response, 401, { error: { message: 'no' } }),
    runner: localRunner(),
  })
  const { ada } = users
  await ada('POST', '/api/chat', { messages: message, model: 'custom-model' })
  const { body } = await ada('GET', '/api/requests')
  const [request] = body.requests
  assert.is(body.live, 0)
  assert.equal([request.state, request.asked_model], ['answered', 'custom-model'])
  assert.equal(request.place, { plugin: null, runner: 'ollama', model: 'llama3:latest' })
  assert.equal(
    request.attempts.map(({ outcome, plugin, runner }: Record<string, unknown>) => [outcome, plugin ?? runner]),
    [
      ['failed', 'custom'],
      ['answered', 'ollama'],
    ],
  )
  assert.is(request.attempts[0].status, 401)
  assert.type(request.attempts[0].error, 'string')
  assert.not.match(JSON.stringify(body), 'nobody else')
  assert.equal((await ada('GET', `/api/requests/${request.id}`)).body, request)
})

test('a stream under way is seen while it answers, with its tokens so far, and ends as cancelled when its reader leaves', () => {
  const half = withResolvers()
  return withUsers(
    async ({ ada, url }) => {
      const controller = new AbortController()
      const response = await fetch(`${url}/api/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer ada' },
        body: JSON.stringify({ messages: message, stream: true }),
        signal: controller.signal,
      })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      for (let heard = ''; !heard.includes('first words'); ) heard += (await reader.read()).value
      const { body } = await ada('GET', '/api/requests')
      assert.equal([body.live, body.requests[0].state], [1, 'answering'])
      assert.ok(body.requests[0].output_tokens > 0)
      assert.ok(body.requests[0].estimated)
      assert.type(body.requests[0].first_content_ms, 'number')
      controller.abort()
      for (;;) {
        const { requests, live } = (await ada('GET', '/api/requests')).body
        if (live > 0) continue
        assert.is(requests[0].state, 'cancelled')
        break
      }
      half.resolve()
    },
    {
      provider: async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(completionEvents(['The first words of an answer', 'the rest'])[0])
        response.write(completionEvents(['The first words of an answer', 'the rest'])[1])
        await half.promise
        response.end()
      },
    },
  )
})

test('a user sees their own requests alone, an administrator all', async () => {
  await using users = await openUsers({ provider: (_, response) => json(response, 200, completion('yes')) })
  const { ada, bob } = users
  await ada('POST', '/api/chat', { messages: message })
  await bob('POST', '/api/chat', { messages: message })
  const all = (await ada('GET', '/api/requests')).body.requests
  const own = (await bob('GET', '/api/requests')).body.requests
  assert.equal(pluck(all, 'user'), ['bob-2', 'ada-1'])
  assert.equal(pluck(own, 'user'), ['bob-2'])
  const foreign = await bob('GET', `/api/requests/${all[1].id}`)
  const missing = await bob('GET', '/api/requests/nothing')
  assert.is(foreign.status, 404)
  assert.is(missing.status, 404)
  assert.is(foreign.body.error.replace(all[1].id, ''), missing.body.error.replace('nothing', ''))
})

test('a request that nobody answered tells its failure, and one that makes no sense is not under way for ever', () =>
  withUsers(async ({ ada }) => {
    await ada('POST', '/api/chat', { messages: message })
    await ada('POST', '/api/chat', { messages: message, plugin: 'nothing' })
    const { live, requests } = (await ada('GET', '/api/requests')).body
    assert.is(live, 0)
    assert.is(requests.length, 2)
    for (const { state, problem } of requests) {
      assert.is(state, 'failed')
      assert.type(problem, 'string')
    }
  }))

test('a persona’s request tells her name and how many memories went in', async () => {
  await using users = await openUsers({ provider: (_, response) => json(response, 200, completion('Minka')) })
  const { ada, persona } = users
  const mia = await persona({ memory_settings: { enabled: true } })
  await ada('POST', `${mia}/memory`, { content: 'The cat is called Minka.' })
  await ada('POST', '/api/chat', { messages: [{ role: 'user', content: 'What is the cat called?' }], persona: 'Mia' })
  const [request] = (await ada('GET', '/api/requests')).body.requests
  assert.equal([request.persona, request.memories], ['Mia', 1])
  await ada('DELETE', mia)
  const after = await ada('GET', '/api/requests')
  assert.equal([after.status, after.body.requests[0].persona], [200, 'Mia'], 'as the request named her')
})

test('an open circuit is told', async () => {
  await using users = await openUsers({ provider: (_, response) => json(response, 500, {}), waits: { retry: 0 } })
  const { ada } = users
  for (let times = 0; times < 8; times++)
    await ada('POST', '/api/chat', { messages: message, model: 'custom-model', fallback: false })
  const { circuits } = (await ada('GET', '/api/load')).body
  assert.equal(circuits, [{ plugin: 'custom', runner: null, model: 'custom-model', state: 'open' }])
})

test.run()

/** Promise.withResolvers, which Node 20 lacks. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
