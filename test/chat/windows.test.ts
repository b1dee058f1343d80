import * as assert from 'uvu/assert'
import { fixture } from '../helpers/fixture.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { openUsers, type UserDaemon, type UserDaemonParts } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('conversations beside the windows of models')

interface Sent {
  readonly role: string
  readonly content: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}

const model = 'custom-model'

const words = (tokens: number, word = 'blah') => `${word} `.repeat(tokens).trim()

/** Alternating questions and answers, each of about so many tokens. */
function turns(count: number, tokens: number): Sent[] {
  return Array.from({ length: 2 * count }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at}: ${words(tokens)}`,
  }))
}

const last: Sent = { role: 'user', content: 'And now?' }

function open(answer: Answer, plugin: Record<string, unknown> = {}): ReturnType<typeof openUsers> {
  return openUsers({ provider: answer, plugin: { model_map: [model], ...plugin } } satisfies UserDaemonParts)
}

/** Refuses requests of more than so many characters as a provider does, and answers others with their number of messages. */
function refusing(characters: number, status: number, body: unknown): Answer {
  return (request, response) => {
    if (request.body.length > characters) return json(response, status, body)
    json(response, 200, completion(`${JSON.parse(request.body).messages.length}`))
  }
}

const answering: Answer = refusing(Number.POSITIVE_INFINITY, 200, {})

const sent = ({ provider }: UserDaemon, at = -1): Sent[] => JSON.parse(provider.received.at(at)!.body).messages

const ask = (all: UserDaemon, messages: readonly Sent[], more = {}) =>
  all.ada('POST', '/v1/chat/completions', { model, messages, ...more })

test('400,000 tokens for a model of 128,000: the middle is left out at once, and the answer says how much', async () => {
  await using all = await open(answering, { models: { [model]: { context_window: 128_000 } } })
  const system = { role: 'system', content: 'Be brief.' }
  const document = { role: 'user', content: words(20_000, 'fact') }
  const messages = [system, document, ...turns(38, 5_000).slice(1), last]
  const { status, body, headers } = await ask(all, messages)
  assert.is(status, 200)
  assert.is(all.provider.received.length, 1)
  const kept = sent(all)
  assert.equal(kept.slice(0, 2), [system, document])
  assert.equal(kept.slice(2), messages.slice(messages.length - kept.length + 2), 'the end is whole')
  const gone = messages.length - kept.length
  const warning = new RegExp(
    `^${gone} earlier messages \\(about \\d{6} tokens\\) left out: ${model} takes 128000 tokens`,
  )
  assert.match(headers.get('x-aichat-warnings')!, warning)
  assert.match(body.aichat?.warnings?.[0] ?? headers.get('x-aichat-warnings'), warning)
})

test('a request that may fit goes out whole; no window is made of nonsense', async () => {
  for (const context_window of [24_000, 0, -1, 1e12, 1.5, '24']) {
    await using all = await open(answering, { models: { [model]: { context_window } } })
    const messages = [...turns(10, 1_000), last]
    assert.is((await ask(all, messages)).headers.get('x-aichat-warnings'), null)
    assert.equal(sent(all), messages)
  }
})

test('of a long round of tool calls the oldest go, each call with its result, never the question', async () => {
  await using all = await open(answering, { models: { [model]: { context_window: 20_000 } } })
  const calls = Array.from({ length: 30 }, (_, at) => [
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: `call-${at}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `call-${at}`, content: words(1_500) },
  ])
  const messages = [{ role: 'user', content: 'Read them all.' }, ...calls.flat()]
  assert.is((await ask(all, messages)).status, 200)
  const [question, ...kept] = sent(all)
  assert.is(question!.content, 'Read them all.')
  assert.equal(
    kept.flatMap(({ tool_calls: called }) => called?.map(({ id }) => id) ?? []),
    kept.flatMap(({ tool_call_id: id }) => id ?? []),
  )
  assert.is(kept.at(-1)!.tool_call_id, 'call-29')
  assert.ok(kept.length > 10 && kept.length < 40, `${kept.length} messages`)
})

/** The refusals of a request that is too long, as each provider writes them, and the window that they name. */
const refusals =
  fixture<readonly (readonly [provider: string, status: number, body: unknown, window: number | null])[]>(
    'refusals-of-length.json',
  )

for (const [provider, status, body, window] of refusals)
  test(`${provider}: a refusal for length is answered by one more try with less, and its window is kept for the day`, async () => {
    await using all = await open(refusing(50_000, status, body))
    const messages = [...turns(10, 1_000), last]
    const first = await ask(all, messages)
    assert.is(first.status, 200)
    assert.equal([all.provider.received.length, sent(all, 0).length], [2, 21])
    const kept = sent(all)
    assert.equal(kept.slice(-3), messages.slice(-3))
    assert.match(first.headers.get('x-aichat-warnings')!, `${21 - kept.length} earlier messages`)
    assert.is(Number(first.body.choices[0].message.content), kept.length)
    const shown = await all.ada('GET', `/api/models/show?model=custom:${model}`)
    if (window !== null) {
      assert.equal([shown.body.context_window, shown.body.context_source], [window, 'refusal'])
      // A command has it too, as a restarted daemon does.
      const words = ['models', 'show', `custom:${model}`, '--json']
      const { stdout } = await runMain(words, { environment: { AICHAT_HOME: all.installation.home } })
      assert.is(JSON.parse(stdout).context_window, window)
    }
    const requestsOfTurn = async () => {
      const before = all.provider.received.length
      messages.push(...turns(1, 100), last)
      await all.ada('POST', '/v1/chat/completions', { model, messages, stream: true })
      return all.provider.received.length - before
    }
    const later = []
    for (let turn = 0; turn < 6; turn++) later.push(await requestsOfTurn())
    // Where the refusal named the window, the next request is fitted before it is sent; else it is found in a few turns.
    assert.equal(later.slice(window === null ? 3 : 0), Array(window === null ? 3 : 6).fill(1), `${later}`)
    assert.ok(sent(all).length > 8 && sent(all).length < messages.length, `${sent(all).length} messages`)
  })

test('what cannot be shorter is refused in the words of the provider, and another failure is not tried with less', async () => {
  const [, status, body] = refusals[0]!
  await using all = await open(refusing(1_000, status, body))
  const refused = await ask(all, [{ role: 'user', content: words(4_000) }])
  assert.equal([refused.status, refused.body.error.code], [400, 'context_length_exceeded'])
  assert.is(all.provider.received.length, 1)
  const twice = await ask(all, [...turns(3, 2_000), { role: 'user', content: words(4_000) }])
  assert.equal([twice.status, all.provider.received.length], [400, 3])
  await using other = await open(
    refusing(10, 400, { error: { message: 'Invalid value', type: 'invalid_request_error' } }),
  )
  assert.equal([(await ask(other, turns(9, 100))).status, other.provider.received.length], [400, 1])
})

test('a model of the local runner is given the room that a request needs, up to what it was trained for', async () => {
  const trained = { model_info: { 'general.architecture': 'llama', 'llama.context_length': 16_384 } }
  const runner: Answer = (request, response) => {
    if (request.url === '/api/tags') return json(response, 200, { models: [{ name: 'big:latest' }] })
    if (request.url === '/api/show') return json(response, 200, trained)
    json(response, 200, { model: 'big:latest', message: { role: 'assistant', content: 'Yes.' }, done: true })
  }
  await using all = await openUsers({ runner })
  const size = async (messages: readonly Sent[]) => {
    const answer = await all.ada('POST', '/v1/chat/completions', { model: 'local:big', messages })
    const body = JSON.parse(all.runner.received.at(-1)!.body)
    return [body.options?.num_ctx, body.messages.length, answer.headers.get('x-aichat-warnings')]
  }
  assert.equal(await size([last]), [undefined, 1, null])
  assert.equal(await size(turns(2, 1_000)), [8_192, 4, null])
  const [room, kept, warning] = await size([...turns(20, 1_000), last])
  assert.is(room, 16_384)
  assert.ok(Number(kept) < 20)
  assert.match(String(warning), 'takes 16384 tokens at once')
  // Another size would load the model anew.
  assert.equal(await size([last]), [16_384, 1, null])
})

test.run()
