import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { createKeyPools, type KeyPoolsParts } from '../../src/chat/key-pool.ts'
import type { Failure } from '../../src/chat/protocol/failure.ts'
import { type Installation, openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openStandIn, type Received } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const first = 'sk-first-0123456789'
const second = 'sk-second-0123456789'
const question = { messages: [{ role: 'user' as const, content: 'Hello?' }] }
const both = { CUSTOM_API_KEY: first, CUSTOM_API_KEY_2: second }

const test = suite('several keys for one provider')

test('a caller keeps its key, and callers are shared out between the keys', () =>
  withKeys(both, answers, async ({ chat, received }) => {
    for (let at = 0; at < 40; at++) await chat({ user: `user ${at % 8}` })
    const keys = received.map(({ headers }) => headers.authorization!)
    for (let at = 8; at < 40; at++) assert.is(keys[at], keys[at - 8])
    assert.is(new Set(keys).size, 2)
  }))

test('a conversation keeps its key also where its user has another one', () =>
  withKeys(both, answers, async ({ chat, received }) => {
    for (let at = 0; at < 16; at++) await chat({ user: `user ${at}`, session: 'one' })
    assert.is(new Set(received.map(({ headers }) => headers.authorization)).size, 1)
  }))

test('a key with too many requests rests, and the other one answers at once', () =>
  withKeys(both, limited('429'), async ({ chat, received }) => {
    const { report } = await chat({ user: 'ada' })
    assert.is(report.attempts[0]!.tries, report.attempts[0]!.key === 'CUSTOM_API_KEY_2' ? received.length : 1)
    for (let at = 0; at < 20; at++) assert.not.ok((await chat({ user: `user ${at}` })).report.fallback)
    assert.is(received.filter(isFirst).length, 1)
    assert.is(received.filter((request) => !isFirst(request)).length, 21)
  }))

test('a refused key is asked once, until its variable has another value', () =>
  withKeys({ CUSTOM_API_KEY_2: second }, limited('401'), async ({ chat, received, app }) => {
    app.secrets.set('CUSTOM_API_KEY', first)
    for (let at = 0; at < 20; at++) assert.not.ok((await chat({ user: `user ${at}` })).report.fallback)
    assert.is(received.filter(isFirst).length, 1)
    app.secrets.set('CUSTOM_API_KEY', 'sk-third-0123456789')
    for (let at = 0; at < 20; at++) await chat({ user: `user ${at}` })
    assert.is(received.filter(isFirst).length, 1)
    assert.ok(received.some(({ headers }) => headers.authorization === 'Bearer sk-third-0123456789'))
  }))

test('a key without money rests, and the answer names the key that was asked', () =>
  withKeys(both, limited('402'), async ({ chat, received }) => {
    for (let at = 0; at < 20; at++) {
      const { report } = await chat({ user: `user ${at}` })
      assert.is(report.attempts[0]!.key, 'CUSTOM_API_KEY_2')
    }
    assert.is(received.filter(isFirst).length, 1)
  }))

test('a server error is the host’s: it puts no key to rest', () =>
  withKeys(
    both,
    (_request, response) => void response.writeHead(500, { 'content-type': 'application/json' }).end('{}'),
    async ({ chat, received }) => {
      await chat({ user: 'ada' }).then(
        () => assert.unreachable('it answered'),
        (reason) => assert.is(reason.code, 'unavailable'),
      )
      assert.is(new Set(received.map(({ headers }) => headers.authorization)).size, 1)
    },
  ))

test('when both keys rest, the failure tells the shortest wait and sends nothing', () =>
  withKeys(
    both,
    (request, response) =>
      void response
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': isFirst(request) ? '300' : '200' })
        .end('{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'),
    async ({ chat, received }) => {
      await chat({ user: 'ada' }).catch(() => undefined)
      assert.is(received.length, 2)
      const refused = await chat({ user: 'eve' }).then(
        () => undefined,
        (reason) => reason,
      )
      assert.is(received.length, 2)
      assert.is(refused.code, 'rate_limited')
      assert.ok(refused.retryAfter > 190 && refused.retryAfter <= 200, String(refused.retryAfter))
    },
  ))

test('a list of keys in one variable is refused before it goes out', () =>
  withKeys({ CUSTOM_API_KEY: `${first},${second}` }, answers, async ({ chat, received }) => {
    const refused = await chat({ user: 'ada' }).then(
      () => undefined,
      (reason) => reason,
    )
    assert.match(`${refused.message} ${refused.details}`, /comma.*CUSTOM_API_KEY_2/)
    assert.is(received.length, 0)
  }))

test('a plugin may name variables of further keys', () =>
  withKeys(
    { CUSTOM_API_KEY: first, OTHER_API_KEY: second },
    limited('429'),
    async ({ chat }) => assert.is((await chat({ user: 'ada' })).report.attempts[0]!.key, 'OTHER_API_KEY'),
    { auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY', key_envs: ['OTHER_API_KEY'] } },
  ))

test('a further key is bound to the hosts of the first one', () =>
  withKeys(
    { OPENAI_API_KEY: first, OPENAI_API_KEY_2: second },
    answers,
    async ({ app, url }) => {
      const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'OPENAI_API_KEY_2' }
      const refused = await app.plugins.install(pluginAt(url, { id: 'thief', auth })).then(
        () => undefined,
        (reason: { details: readonly string[] }) => reason,
      )
      assert.match(String(refused?.details), /OPENAI_API_KEY_2 is only sent to api\.openai\.com/)
    },
    undefined,
  ))

test('a key rests no longer than told, and an hour at the most', () => {
  let now = 0
  const parts: KeyPoolsParts = { versionOf: () => 1, now: () => now }
  const pool = createKeyPools(parts).of('p', ['A', 'B'])!
  const rate = (waitMs?: number): Failure => ({
    class: 'rate',
    retryable: true,
    message: 'slow down',
    ...(waitMs !== undefined && { waitMs }),
  })
  pool.failed('A', 'm', rate(5000))
  pool.failed('B', 'm', rate(1e12))
  assert.equal([pool.choose('ada', 'm'), pool.rest('m')?.ms], [undefined, 5000])
  assert.ok(pool.choose('ada', 'other model'))
  now = 5000
  assert.is(pool.choose('ada', 'm'), 'A')
  pool.failed('A', 'm', rate(1e12))
  now += 3_600_000
  assert.ok(pool.choose('ada', 'm'))
})

interface Chatting {
  readonly app: Installation['app']
  readonly url: string
  readonly received: readonly Received[]
  chat(call: {
    user: string
    session?: string
  }): ReturnType<Awaited<ReturnType<Installation['app']['chat']>>['router']['complete']>
}

type Answering = (request: Received, response: ServerResponse) => void

async function withKeys(
  environment: Record<string, string>,
  answering: Answering,
  work: (chatting: Chatting) => Promise<void>,
  more: Record<string, unknown> = {},
): Promise<void> {
  await using provider = await openStandIn(answering)
  await using installation = openInstallation(environment)
  const { app } = installation
  await app.plugins.install(pluginAt(provider.url, more))
  await app.plugins.activate('custom')
  const { router } = await app.chat()
  await work({
    app,
    url: provider.url,
    received: provider.received,
    chat: (call) => router.complete({ request: question, fallback: false, ...call }),
  })
}

function answers(_request: Received, response: ServerResponse): void {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'custom-model', choices }))
}

/** Refuses the first key with that status and answers the second. */
function limited(status: '401' | '402' | '429'): Answering {
  return (request, response) => {
    if (!isFirst(request)) return answers(request, response)
    response.writeHead(Number(status), { 'content-type': 'application/json', 'retry-after': '300' })
    response.end(
      JSON.stringify({ error: { message: 'refused', code: status === '402' ? 'insufficient_quota' : 'no' } }),
    )
  }
}

function isFirst({ headers }: Received): boolean {
  return headers.authorization === `Bearer ${first}`
}

test.run()
