// Some with --all only: a killed process.

import type { ServerResponse } from 'node:http'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { ended, failureOf, openLibraries, withLibraries } from '../helpers/program/client-libraries.ts'
import { type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completionEvents, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { openKeyDaemon } from './key-daemon.ts'

const test = suite('responses in the background, with OpenAI’s library unchanged')

const model = 'custom-model'
const pieces = ['Hel', 'lo', ' there']
/** The first two bring the role and the first piece. */
const answer = completionEvents(pieces)

test('it is queued at once, can be polled to its end, and continued', () =>
  withPaused(async ({ openai, release }) => {
    const made = await openai.responses.create({ model, input: 'One', background: true })
    assert.equal([made.status, made.background, made.output], ['queued', true, []])
    const early = await failureOf(() => openai.responses.create({ model, input: 'x', previous_response_id: made.id }))
    assert.match(early.message, /not finished/)
    release()
    const done = await ended(openai, made.id)
    assert.equal(
      [done.status, done.background, done.output_text, done.id, done.created_at],
      ['completed', true, 'Hello there', made.id, made.created_at],
    )
    const next = await openai.responses.create({ model, input: 'Two', previous_response_id: made.id, background: true })
    assert.is((await ended(openai, next.id)).status, 'completed')
  }))

test('a client that lost the stream reads on behind the last event that it has, and after the end gets the whole response', () =>
  withPaused(async ({ openai, release, provider }) => {
    const stream = await openai.responses.create({ model, input: 'One', background: true, stream: true })
    let id = ''
    let seen = -1
    let text = ''
    for await (const event of stream) {
      assert.is(event.sequence_number, ++seen)
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') text += event.delta
      // Leaving the loop disconnects.
      if (text !== '') break
    }
    assert.is(text, 'Hel')
    const resumed = await openai.responses.retrieve(id, { stream: true, starting_after: seen })
    release()
    const rest = await numbersAndText(resumed)
    assert.equal([text + rest.text, rest.numbers[0]], ['Hello there', seen + 1])
    assert.is(provider.received.at(-1)!.cancelled, false)
    const again = await numbersAndText(await openai.responses.retrieve(id, { stream: true, starting_after: seen }))
    assert.equal(again, { numbers: [seen + 1], text: '', last: 'response.completed' })
    const whole = await numbersAndText(await openai.responses.retrieve(id, { stream: true }))
    assert.equal(whole, { numbers: [0, 1], text: '', last: 'response.completed' })
    const { output_text } = await openai.responses
      .stream({ response_id: id, starting_after: -1 } as never)
      .finalResponse()
    assert.is(output_text, 'Hello there')
  }))

test('a cancelled one leaves its provider and stays cancelled', () =>
  withPaused(async ({ openai, provider, arrived }) => {
    const made = await openai.responses.create({ model, input: 'One', background: true })
    await arrived()
    const live = await openai.responses.retrieve(made.id, { stream: true })
    assert.is((await openai.responses.cancel(made.id)).status, 'cancelled')
    assert.is((await numbersAndText(live)).last, 'response.incomplete')
    await until(() => provider.received[0]!.cancelled)
    assert.equal(
      [(await openai.responses.retrieve(made.id)).status, (await openai.responses.cancel(made.id)).status],
      ['cancelled', 'cancelled'],
    )
  }))

test('a provider that fails makes it a failed response, polled and streamed', async () => {
  await using libraries = await openLibraries((_, response) => void response.writeHead(500).end('{}'), {
    maxRetries: 0,
  })
  const { openai } = libraries
  const made = await openai.responses.create({ model, input: 'One', background: true })
  const failed = await ended(openai, made.id)
  assert.equal([failed.status, failed.output, failed.error?.code !== undefined], ['failed', [], true])
  const types: string[] = []
  for await (const event of await openai.responses.retrieve(made.id, { stream: true })) types.push(event.type)
  assert.equal(types, ['response.created', 'response.failed'])
})

test('one user has at most eight under way; the ninth waits, another user does not', async () => {
  await using daemon = await openKeyDaemon({ provider: () => {} })
  const { url, ada, bob, key } = daemon
  const client = (apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const ask = { model: 'm-one', input: 'One', background: true }
  const made = []
  for (let at = 0; at < 8; at++) made.push(await client(ada.token).responses.create(ask))
  const refused = await failureOf(() => client(ada.token).responses.create(ask))
  assert.equal([refused['status'], (refused['headers'] as Headers).get('retry-after')], [429, '5'])
  const his = await client((await key(bob)).secret).responses.create(ask)
  assert.is(his.status, 'queued')
  await client(ada.token).responses.delete(made[0]!.id)
  assert.is((await client(ada.token).responses.create(ask)).status, 'queued')
})

test('the end of its key ends it as failed', async () => {
  await using daemon = await openKeyDaemon({ provider: () => {} })
  const { url, bob, key, call } = daemon
  const { id, secret } = await key(bob)
  const client = (apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const made = await client(secret).responses.create({ model: 'm-one', input: 'One', background: true })
  assert.is((await call('DELETE', `/api/keys/${id}`, { token: bob.token })).status, 200)
  const failed = await ended(client(bob.token), made.id)
  assert.equal([failed.status, failed.error?.code], ['failed', 'server_error'])
  assert.match(failed.error!.message, /key/)
})

test.whole('a daemon that stops, or is killed, leaves it failed, and of an answer with a client nothing', async () => {
  const provider = await openStandIn(() => {})
  const home = temporaryFolder()
  const environment = { CUSTOM_API_KEY: 'sk-test-123456' }
  let daemon = await spawnDaemon(environment, home)
  try {
    const { body } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: 'Passw0rd' },
    })
    const { token } = body as { token: string }
    await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
    await daemon.call('POST', '/api/plugins/activate/custom', { token })
    const client = () => new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: token, maxRetries: 0 })
    const killed = await client().responses.create({ model, input: 'One', background: true })
    const left = client()
      .responses.create({ model, input: 'Two' })
      .catch(() => undefined)
    await requests(provider, 2)
    await daemon.stop('SIGKILL')
    await left

    daemon = await spawnDaemon(environment, home)
    const first = await client().responses.retrieve(killed.id)
    assert.equal([first.status, first.error?.code], ['failed', 'server_error'])
    assert.is((await extentOf(daemon, token)).responses, 1)
    const stopped = await client().responses.create({ model, input: 'Three', background: true })
    await requests(provider, 3)
    assert.is(await daemon.stop('SIGTERM'), 0)

    daemon = await spawnDaemon(environment, home)
    const second = await client().responses.retrieve(stopped.id)
    assert.equal([second.status, second.error?.code], ['failed', 'server_error'])
    const events = await numbersAndText(await client().responses.retrieve(stopped.id, { stream: true }))
    assert.is(events.last, 'response.failed')
  } finally {
    await daemon.stop('SIGKILL')
    await provider.close()
  }
})

test.run()

interface Paused {
  readonly openai: OpenAI
  readonly provider: StandIn
  /** Lets every answer go on to its end. */
  release(): void
  /** Resolves when the provider was asked. */
  arrived(): Promise<void>
}

/** A provider that gives the first piece of its answer, and the rest when it may. */
function withPaused(work: (parts: Paused) => Promise<void>): Promise<void> {
  const waiting: ServerResponse[] = []
  let isFree = false
  const goOn = (response: ServerResponse) => response.end(answer.slice(2).join(''))
  return withLibraries(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(answer.slice(0, 2).join(''))
      if (isFree) goOn(response)
      else waiting.push(response)
    },
    ({ openai, provider }) =>
      work({
        openai,
        provider,
        release() {
          isFree = true
          for (const response of waiting.splice(0)) goOn(response)
        },
        arrived: () => requests(provider, 1),
      }),
    { maxRetries: 0 },
  )
}

/** Resolves when so many requests have reached a provider. */
async function requests({ received }: StandIn, count: number): Promise<void> {
  await until(() => received.length >= count)
}

async function extentOf({ call }: SpawnedDaemon, token: string): Promise<{ readonly responses: number }> {
  return (await call('GET', '/api/responses', { token })).body
}

async function numbersAndText(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) {
  const numbers: number[] = []
  let text = ''
  let last = ''
  for await (const event of stream) {
    numbers.push(event.sequence_number)
    if (event.type === 'response.output_text.delta') text += event.delta
    last = event.type
  }
  return { numbers, text, last }
}
