import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { pluck } from '../helpers/pluck.ts'
import { openLibraries } from '../helpers/program/client-libraries.ts'
import { withDaemon } from '../helpers/program/daemon.ts'
import { type As, openUsers, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('limits over HTTP')

test('an administrator sets, shows, resets and removes limits; others see their own', () =>
  withDaemon(async ({ call, register }) => {
    const { token, user } = await register('ada')
    const bob = await register('bob')
    const as = (method: string, path: string, body?: unknown) => call(method, path, { token, body })
    const put = await as('PUT', '/api/limits/user:bob', {
      rpm: 60,
      budgets: [{ amount_usd: 20, period: 'month', timezone: 'europe/berlin', warn: 90 }],
    })
    assert.is(put.status, 200, JSON.stringify(put.body))
    assert.is(put.body.subject, 'user:bob')
    const [budget] = put.body.budgets
    assert.equal(
      [budget.amount_usd, budget.timezone, budget.spent_usd, budget.reserved_usd, budget.hard, budget.warn],
      ['20', 'Europe/Berlin', '0', '0', false, 90],
    )
    assert.ok(budget.resets_at > Date.now())
    assert.is((await as('PUT', `/api/limits/${encodeURIComponent(`user:${bob.user.id}`)}`, { rpm: 30 })).body.rpm, 30)
    assert.is((await as('PUT', '/api/limits/all', { tpd: 1_000_000, parallel: 5 })).status, 200)
    const listed = await as('GET', '/api/limits')
    assert.equal(pluck(listed.body.limits, 'subject'), ['all', 'user:bob'])
    const own = await call('GET', '/api/limits', { token: bob.token })
    assert.equal(own.body, { limits: [{ subject: 'user:bob', rpm: 30, budgets: [] }] })
    for (const [method, path] of [
      ['PUT', '/api/limits/all'],
      ['DELETE', '/api/limits/all'],
      ['GET', '/api/limits/all'],
      ['POST', '/api/limits/all/reset'],
    ] as const)
      assert.is(
        (await call(method, path, { token: bob.token, ...(method !== 'GET' && { body: { rpm: 1 } }) })).status,
        403,
      )
    assert.is((await as('POST', '/api/limits/user:bob/reset')).status, 200)
    assert.is((await as('DELETE', '/api/limits/user:bob')).status, 200)
    for (const [method, path] of [
      ['DELETE', '/api/limits/user:bob'],
      ['GET', '/api/limits/user:bob'],
      ['POST', '/api/limits/user:bob/reset'],
      ['PUT', '/api/limits/user:nobody'],
      ['PUT', '/api/limits/plugin:nothing'],
    ] as const)
      assert.is((await as(method, path, method === 'PUT' ? { rpm: 1 } : undefined)).status, 404, `${method} ${path}`)
    assert.is((await as('PUT', '/api/limits/user:bob', { rpm: 1 })).status, 200)
    assert.is((await as('DELETE', `/api/users/${bob.user.id}`)).status, 200)
    assert.is((await as('GET', '/api/limits')).body.limits.length, 1)
    assert.is(user.username, 'ada')
  }))

test('limits that make no sense are refused by their fields', () =>
  withUsers(async ({ ada }) => {
    const budget = (more: object) => ({ budgets: [{ amount_usd: 1, period: 'day', ...more }] })
    const wrong: readonly unknown[] = [
      {},
      { budgets: [] },
      { rpm: 0 },
      { rpm: -1 },
      { rpm: 1e300 },
      { tpm: 1.5 },
      { rpm: null },
      { rpm: '60' },
      { budget: [{ amount_usd: 1, period: 'day' }] },
      { limits: { rpm: 5 } },
      budget({ amount_usd: -1 }),
      budget({ amount_usd: 1e300 }),
      budget({ amount_usd: '1e3' }),
      budget({ amount_usd: null }),
      budget({ amount_usd: '0.0000000001' }),
      budget({ period: 'year' }),
      budget({ timezone: "UTC'; DROP TABLE ledger; --" }),
      budget({ warn: 0 }),
      budget({ warn: 101 }),
      budget({ hard: 'yes' }),
      budget({ soft: true }),
      { budgets: Array.from({ length: 9 }, () => ({ amount_usd: 1, period: 'day' })) },
      { budgets: [budget({}).budgets[0], budget({}).budgets[0]] },
    ]
    for (const body of wrong) {
      const { status, body: answer } = await ada('PUT', '/api/limits/all', body)
      assert.is(status, 400, `${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
    }
    for (const subject of ['everybody', 'key:', 'model:gpt', "all'--", 'x'.repeat(500)])
      assert.is((await ada('PUT', `/api/limits/${encodeURIComponent(subject)}`, { rpm: 1 })).status, 400, subject)
    assert.equal((await ada('GET', '/api/limits')).body, { limits: [] })
    assert.is((await ada('PUT', '/api/limits/all', budget({ amount_usd: 0 }))).status, 200)
  }))

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const answers: Answer = (_request, response) => json(response, 200, completion('Hello there'))

test('a request too many is refused with its wait in every dialect, and the next passes when it may', async () => {
  await using users = await openUsers({ provider: answers })
  const { ada, bob, url } = users
  assert.is((await ada('PUT', '/api/limits/user:local', { rpm: 1 })).status, 200)
  await setFor(ada, { rpm: 2, tpm: 100_000 })
  const first = await bob('POST', '/api/chat', chat)
  assert.equal([first.status, first.headers.get('x-ratelimit-remaining-requests')], [200, '1'])
  assert.match(first.headers.get('x-ratelimit-reset-tokens') ?? '', /^(1m)?\d/)
  const answer = await ask(url, '/v1/messages', { ...chat, model: 'custom-model', max_tokens: 50 })
  assert.equal([answer.status, answer.headers.get('anthropic-ratelimit-requests-remaining')], [200, '0'])
  assert.is(answer.headers.get('x-ratelimit-limit-requests'), null)
  for (const [path, type] of [
    ['/v1/messages', 'rate_limit_error'],
    ['/v1/chat/completions', 'requests'],
  ] as const) {
    const refused = await ask(url, path, { ...chat, model: 'custom-model', max_tokens: 50 })
    assert.is(refused.status, 429)
    const { error } = (await refused.json()) as { error: { type: string; code?: string } }
    assert.is(error.type, type)
    if (type === 'requests') assert.is(error.code, 'rate_limit_exceeded')
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(wait >= 1 && wait <= 61, String(wait))
    assert.is(refused.headers.get('x-should-retry'), wait > 60 ? 'false' : null)
    assert.is(refused.headers.get('x-ratelimit-remaining-requests'), '0')
  }
  const refused = await bob('POST', '/api/chat', chat)
  assert.equal([refused.status, refused.body.code, refused.body.type], [429, 'rate_limit_exceeded', 'requests'])
  assert.is((await ada('DELETE', '/api/limits/all')).status, 200)
  assert.is((await bob('POST', '/api/chat', chat)).status, 200)
})

test("a provider's own rate headers do not reach the client", () =>
  withUsers(
    async ({ ada, bob }) => {
      const headers = async () => (await bob('POST', '/api/chat', chat)).headers
      assert.is((await headers()).get('x-ratelimit-remaining-requests'), null)
      await setFor(ada, { rpm: 20 })
      assert.is((await headers()).get('x-ratelimit-remaining-requests'), '19')
      assert.is((await headers()).get('x-ratelimit-remaining-tokens'), null)
    },
    {
      provider: (request, response) => {
        response.setHeader('x-ratelimit-remaining-requests', '7')
        response.setHeader('x-ratelimit-remaining-tokens', '8')
        return answers(request, response)
      },
    },
  ))

test("a plugin's limit sends the request on to its fallback, and is told where there is none", () =>
  withUsers(
    async ({ ada, bob, installation: { app }, provider }) => {
      const [plugin] = app.plugins.list().filter(({ id }) => id === 'custom')
      await app.plugins.install({ ...pluginBody(plugin!), id: 'second' }, { replace: false })
      assert.is((await ada('PUT', '/api/limits/plugin:custom', { rpm: 1 })).status, 200)
      assert.is((await bob('POST', '/api/chat', chat)).body.aichat.plugin, 'custom')
      const refused = await bob('POST', '/api/chat', { ...chat, plugin: 'custom', fallback: false })
      assert.equal([refused.status, refused.body.code], [429, 'rate_limit_exceeded'])
      assert.match(refused.body.error, /limit of the plugin/)
      assert.is(provider.received.length, 1)
      await app.plugins.update('custom', { ...pluginBody(plugin!), fallback: ['second'] })
      const { body } = await bob('POST', '/api/chat', chat)
      assert.is(body.aichat.plugin, 'second')
      assert.equal([body.aichat.attempts[0].class, body.aichat.attempts[0].tries], ['limit', 0])
    },
    { provider: answers },
  ))

test('both libraries see a rate limit, repeat it after Retry-After and succeed by themselves', async () => {
  await using libraries = await openLibraries(
    (request, response) => held(request.body, () => answers(request, response)),
    {},
  )
  const { app, openai, anthropic, provider } = libraries
  const limits = await (await app.usage()).limits()
  await limits.set('all', { parallel: 1 })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  for (const ask of [
    () => openai.chat.completions.create({ model: 'custom-model', messages }),
    () => anthropic.messages.create({ model: 'custom-model', max_tokens: 9, messages }),
  ]) {
    const before = provider.received.length
    const free = hold()
    const first = openai.chat.completions.create({
      model: 'custom-model',
      messages: [{ role: 'user', content: 'hold' }],
    })
    await reached(() => provider.received.length > before)
    const second = ask()
    free()
    await first
    await second
    assert.is(provider.received.length, before + 2)
  }
})

test('both libraries stop after one request that can never pass', async () => {
  await using libraries = await openLibraries(answers, {})
  const { app, openai, anthropic, provider } = libraries
  const limits = await (await app.usage()).limits()
  await limits.set('all', { tpm: 100, rpm: 10 })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const failures = [
    await openai.chat.completions
      .create({ model: 'custom-model', messages, max_tokens: 500 })
      .catch((reason: unknown) => reason),
    await anthropic.messages
      .create({ model: 'custom-model', max_tokens: 500, messages })
      .catch((reason: unknown) => reason),
  ]
  assert.instance(failures[0], OpenAI.RateLimitError)
  assert.instance(failures[1], Anthropic.RateLimitError)
  assert.is(provider.received.length, 0)
  // A refusal counts for nothing, so that all requests are still there.
  const [view] = await limits.list()
  assert.is(view?.rpm, 10)
  const { response } = await openai.chat.completions
    .create({ model: 'custom-model', messages, max_tokens: 5 })
    .withResponse()
  assert.is(response.headers.get('x-ratelimit-remaining-requests'), '9')
})

test.run()

async function setFor(ada: As, limits: object): Promise<void> {
  const { status, body } = await ada('PUT', '/api/limits/all', limits)
  if (status !== 200) throw new Error(JSON.stringify(body))
}

function ask(url: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer bob' },
    body: JSON.stringify(body),
  })
}

/** The document of a plugin without the fields of its view. */
function pluginBody(view: object): Record<string, unknown> {
  const {
    active: _1,
    source: _2,
    overridden: _3,
    key_set: _4,
    state: _5,
    ...document
  } = view as Record<string, unknown>
  return document
}

let gate: Promise<void> | undefined

/** Holds answers to requests that say so, until the function is called that it gives back. */
function hold(): () => void {
  let free = () => {}
  gate = new Promise((resolve) => {
    free = resolve
  })
  return free
}

async function held(body: string, answer: () => void | Promise<void>): Promise<void> {
  if (body.includes('hold')) await gate
  await answer()
}

async function reached(isSo: () => boolean): Promise<void> {
  await until(() => isSo())
}
