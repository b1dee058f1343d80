import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('prices over HTTP')

const ask = async (url: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}/api/prices${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  return { status: response.status, body: (await response.json()) as any }
}

const price = { plugin: 'openai', model: 'gpt-4.1', rates: { input: '1.5', output: '6' } }

test('prices are set, listed with their source, and taken back', async () => {
  await using installation = openInstallation()
  const url = await installation.serve()
  const set = await ask(url, 'PUT', '', { prices: [price] })
  assert.is(set.status, 200)
  const [row] = set.body.prices
  assert.equal(row, { ...price, id: 'p1', source: 'operator', origin: 'local', fetched_at: row.fetched_at })
  assert.not.ok(Number.isNaN(Date.parse(row.fetched_at)))
  const { body } = await ask(url, 'GET', '?plugin=openai&model=gpt-4.1')
  assert.equal(
    body.prices.map(({ source, rates }: typeof row) => [source, rates.input]),
    [
      ['operator', '1.5'],
      ['shipped', '2'],
    ],
  )
  assert.equal((await ask(url, 'DELETE', '?plugin=openai&model=gpt-4.1')).body, {
    plugin: 'openai',
    model: 'gpt-4.1',
    removed: true,
  })
  assert.is((await ask(url, 'DELETE', '?plugin=openai&model=gpt-4.1')).status, 404)
  assert.is((await ask(url, 'GET', '?model=nothing')).body.total, 0)
})

test('wrong prices are refused with every problem, and none of the change is made', async () => {
  await using installation = openInstallation()
  const url = await installation.serve()
  const bad = [{ ...price, rates: { input: '-1' } }, { ...price, model: 'x', rates: { input: '1e300' } }, price, price]
  const refused = await ask(url, 'PUT', '', { prices: [...bad, { ...price, model: 'y', extra: 1 }] })
  assert.is(refused.status, 400)
  assert.is(refused.body.details.length, 5, refused.body.details.join('\n'))
  assert.is((await ask(url, 'PUT', '', { prices: [] })).status, 400)
  assert.is((await ask(url, 'PUT', '', { prices: [price, { ...price, plugin: 'none' }] })).status, 404)
  const many = Array.from({ length: 100_000 }, (_, at) => ({ plugin: 'a', model: `m${at}`, rates: { input: '1' } }))
  assert.is((await ask(url, 'PUT', '', { prices: many })).status, 413)
  assert.is((await ask(url, 'GET', '?source=operator')).body.total, 0)
  assert.is((await ask(url, 'GET', '?limit=5001')).status, 400)
})

test('an attempt is booked at the price that another process sets, within a second', async () => {
  await using installation = openInstallation({ CUSTOM_API_KEY: 'k' })
  using home = openFastHome({ AICHAT_HOME: installation.home, CUSTOM_API_KEY: 'k' })
  await installation.app.plugins.install(pluginAt('http://127.0.0.1:9'))
  // A service has its storage open.
  await installation.app.accounts()
  const { metering } = await installation.app.usage()
  const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
  const cost = async () => {
    const call = metering.begin({ user: 'local' }, 'chat', () => ({ messages: [] }))
    const attempt = await call.attempt({ plugin: 'custom', model: 'custom-model' })
    attempt.reported({ usage })
    call.end()
    return attempt.ended('answered')
  }
  assert.is((await cost()).cost_usd, null)
  const words = ['prices', 'set', 'custom-model', '--plugin', 'custom', '--input', '3', '--output', '15']
  assert.is((await home.aichat(words)).code, 0)
  const begun = performance.now()
  while ((await cost()).cost_usd === null) {
    assert.ok(performance.now() - begun < 30_000, 'the price was never seen')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(await cost(), {
    cost_usd: '0.0105',
    cost_nano: 10_500_000,
    source: 'operator',
    estimated: false,
    tokens: { input: 1000, output: 500 },
  })
})

test.run()
