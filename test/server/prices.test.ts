import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
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
  assert.is((await ask(url, 'POST', '/refresh', { document: { prices: many } })).status, 413)
  assert.is((await ask(url, 'GET', '?source=operator')).body.total, 0)
  assert.is((await ask(url, 'GET', '?limit=5001')).status, 400)
})

test('a refresh streams the rows of its plugins', async () => {
  await using provider = await openStandIn((_, response) =>
    json(response, 200, { data: [{ id: 'a', pricing: { prompt: '0.000001', completion: '0' } }] }),
  )
  await using installation = openInstallation({ CUSTOM_API_KEY: 'k' })
  await installation.app.plugins.install(pluginAt(provider.url, { models_source: { url: `${provider.url}/models` } }))
  const url = await installation.serve()
  const response = await fetch(`${url}/api/prices/refresh`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ plugins: ['custom'], stream: true }),
  })
  const text = await response.text()
  assert.match(text, /"total":1/)
  assert.match(text, /"row":\{"plugin":"custom","before":0,"after":1,"added":\["a"\]/)
  assert.is((await ask(url, 'GET', '?plugin=custom')).body.prices[0].source, 'refreshed')
  assert.is((await ask(url, 'POST', '/refresh', { plugins: ['none'] })).status, 404)
})

test.run()
