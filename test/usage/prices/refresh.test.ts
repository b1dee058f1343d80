import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { PriceFile, PriceRow } from '../../../src/usage/prices/price-file.ts'
import type { PriceRefreshRequest, PriceRefreshRow } from '../../../src/usage/prices/refresh.ts'
import { testData } from '../../helpers/data.ts'
import { pluck } from '../../helpers/pluck.ts'
import { type Installation, openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { type Answer, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { rejects } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('refreshing prices')

const key = 'sk-secret-of-the-tests'
const today = Date.UTC(2026, 10, 22)

interface Scene {
  readonly installation: Installation
  readonly provider: StandIn
  refresh(request?: PriceRefreshRequest): Promise<PriceRefreshRow>
  take(rows: readonly PriceRow[], request?: PriceRefreshRequest): Promise<readonly PriceRefreshRow[]>
  /** Nano-USD of a million input tokens, and the source of the price. */
  cost(model: string): Promise<readonly [number | null, string | null]>
}

/** An installation with a plugin beside a provider that answers its list as told. */
async function scene(answer: Answer, run: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn(answer)
  await using installation = openInstallation({ CUSTOM_API_KEY: key })
  const { app } = installation
  await app.plugins.install(
    pluginAt(provider.url, { model_map: ['a'], models_source: { url: `${provider.url}/v1/models` } }),
  )
  const area = await app.prices()
  const refresher = await area.refresh()
  await run({
    installation,
    provider,
    async refresh(request = { plugins: ['custom'] }) {
      const rows: PriceRefreshRow[] = []
      for await (const row of refresher.refresh(request)) rows.push(row)
      return rows.find(({ plugin }) => plugin === 'custom')!
    },
    take: (prices, request = {}) =>
      refresher.take(
        { format: 'aichat-prices/1', source: 'a test', fetched_at: '2026-11-22', prices },
        'x.json',
        request,
      ),
    async cost(model) {
      const { nano, source } = area.prices.costOf({ plugin: 'custom', model }, { input: 1_000_000, output: 0 }, today)
      return [nano, source]
    },
  })
}

/** A list as OpenRouter writes it. */
const listOf = (prices: Readonly<Record<string, unknown>>) => ({
  data: Object.entries(prices).map(([id, prompt]) => ({
    id,
    pricing: { prompt, completion: '0.000002', request: '0' },
  })),
})

const many = (count: number, prompt: string) =>
  listOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, prompt])))

test('the prices of a list are taken, with the key of the plugin, and superseded by the next one', () => {
  let list: unknown = listOf({ a: '0.000001', b: '0.0000000333333', __proto__x: '0' })
  return scene(
    (_, response) => json(response, 200, list),
    async ({ refresh, cost, provider, installation }) => {
      const row = await refresh()
      assert.equal(row, {
        plugin: 'custom',
        before: 0,
        after: 3,
        added: ['a', 'b', '__proto__x'],
        changed: [],
        removed: [],
        written: true,
        skipped: null,
        error: null,
        warnings: [],
      })
      assert.is(provider.received[0]!.headers.authorization, `Bearer ${key}`)
      assert.equal(await cost('a'), [1_000_000_000, 'refreshed'])
      assert.equal(await cost('b'), [33_333_000, 'refreshed'])
      assert.equal(await cost('__proto__x'), [0, 'refreshed'])
      assert.not.ok((await refresh()).written)

      list = listOf({ a: '0.0000015', b: '0.0000000333333' })
      const dry = await refresh({ plugins: ['custom'], dryRun: true })
      assert.equal([dry.changed, dry.removed, dry.written], [['a'], ['__proto__x'], false])
      assert.equal(await cost('a'), [1_000_000_000, 'refreshed'])
      assert.ok((await refresh()).written)
      assert.equal(await cost('a'), [1_500_000_000, 'refreshed'])
      assert.equal(await cost('__proto__x'), [null, null])
      const { prices } = await installation.app.prices()
      const shown = (await prices.list({ plugin: 'custom', limit: 9, offset: 0 })).prices
      assert.equal(pluck(shown, 'model', 'id', 'origin', 'rounded'), [
        ['a', 'p4', provider.host, undefined],
        ['b', 'p2', provider.host, true],
      ])
    },
  )
})

test('a variable price, a fee for each request, and what is no number are left out', () =>
  scene(
    (_, response) =>
      json(response, 200, {
        data: [
          { id: 'variable', pricing: { prompt: '-1', completion: '-1' } },
          { id: 'fee', pricing: { prompt: '0.000001', completion: '0.000001', request: '0.005' } },
          { id: 'words', pricing: { prompt: 'free', completion: '0' } },
          { id: 'huge', pricing: { prompt: '1e300', completion: '0' } },
          { id: 'number', pricing: { prompt: 0.2, completion: 0.2 } },
          { id: 'half', pricing: { prompt: '0.000001' } },
          { id: 'list', pricing: [{ prompt: '0.000001' }] },
          { id: '../up', pricing: { prompt: '0.000001', completion: '0' } },
          { id: 'none' },
          {
            id: 'parts',
            pricing: {
              prompt: '0.000001',
              completion: '0.000002',
              input_cache_read: '0.0000001',
              input_cache_write: '0.00000125',
              internal_reasoning: '0.000003',
              image: '0.1',
              web_search: '0',
            },
          },
        ],
      }),
    async ({ refresh, installation }) => {
      const row = await refresh()
      assert.equal([row.added, row.error], [['parts'], null])
      assert.match(row.warnings[0]!, /^7 models left out/)
      const { prices } = await installation.app.prices()
      const [shown] = (await prices.list({ plugin: 'custom', limit: 9, offset: 0 })).prices
      assert.equal(shown!.rates, { input: '1', output: '2', cached: '0.1', cache_write: '1.25', reasoning: '3' })
    },
  ))

test('a list that shrank or changed its unit is refused unless forced, and the prices before stay', () => {
  let list: unknown = many(10, '0.000001')
  return scene(
    (_, response) => json(response, 200, list),
    async ({ refresh, cost }) => {
      await refresh()
      list = many(4, '0.000001')
      assert.match((await refresh()).error!, /would shrink from 10 to 4; the ones before stay in use/)
      list = many(10, '1')
      assert.match((await refresh()).error!, /10 of 10 prices changed tenfold or more/)
      list = many(10, '0.000000000001')
      assert.match((await refresh()).error!, /tenfold/)
      assert.equal(await cost('m0'), [1_000_000_000, 'refreshed'])
      const forced = await refresh({ plugins: ['custom'], force: true })
      assert.equal([forced.error, forced.changed.length], [null, 10])
      assert.equal(await cost('m0'), [1000, 'refreshed'])
    },
  )
})

test('a failing provider and a list without prices change nothing', () => {
  let answer: Answer = (_, response) => json(response, 200, listOf({ a: '0.000001' }))
  return scene(
    (request, response) => answer(request, response),
    async ({ refresh, cost }) => {
      await refresh()
      const failures: readonly (readonly [Answer, RegExp])[] = [
        [
          (_, response) => json(response, 401, { error: { message: `bad key ${key}` } }),
          /refused the key \(401\): bad key (?!sk)/,
        ],
        [(_, response) => json(response, 500, {}), /answered 500/],
        [(_, response) => json(response, 200, '{"data":[{"id":'), /not JSON/],
        [(_, response) => json(response, 200, { data: [{ id: 'a' }] }), /Its list of models has no prices/],
        [(_, response) => json(response, 200, { data: [] }), /has no prices/],
        [(_, response) => void response.writeHead(302, { location: '/x' }).end(), /redirect/],
        [
          (_, response) => void response.writeHead(200).end('x'.repeat(17 * 1024 * 1024)),
          /more than a list of models can hold/,
        ],
        [(_, response) => void response.destroy(), /could not be asked/],
      ]
      for (const [next, message] of failures) {
        answer = next
        const row = await refresh()
        assert.match(row.error!, message)
        assert.equal(await cost('a'), [1_000_000_000, 'refreshed'])
      }
      answer = (_, response) => json(response, 200, { data: [{ id: 'a' }] })
      assert.is((await refresh({})).skipped, 'its list of models has no prices')
    },
  )
})

test('a file replaces the prices of its plugins, each whole or not at all', () =>
  scene(
    () => {},
    async ({ take, cost }) => {
      const price = (model: string, input: string): PriceRow => ({ plugin: 'custom', model, rates: { input } })
      const other = { plugin: 'unknown', model: 'a', rates: { input: '1' } }
      const rows = await take([price('a', '1'), price('b', '2'), price('c', '3'), other])
      assert.equal(pluck(rows, 'plugin', 'after', 'warnings'), [
        ['custom', 3, []],
        ['unknown', 1, ['no plugin unknown is installed']],
      ])
      assert.equal(await cost('b'), [2_000_000_000, 'refreshed'])
      assert.match((await take([price('a', '1')]))[0]!.error!, /shrink from 3 to 1/)
      const [dry] = await take([price('a', '9'), price('b', '2')], { dryRun: true })
      assert.equal([dry!.changed, dry!.removed, dry!.written], [['a'], ['c'], false])
      const [one] = await take([price('a', '9'), other], { plugins: ['custom'], force: true })
      assert.equal([one!.changed, one!.removed], [['a'], ['b', 'c']])
      assert.is((await take([], { plugins: ['custom'] }))[0]!.skipped, 'the file has no price of it')
    },
  ))

test('the plugins that were named must be there, have a list, and their key', () =>
  scene(
    () => {},
    async ({ refresh, installation }) => {
      const { plugins } = installation.app
      await plugins.install(pluginAt('http://127.0.0.1:9', { id: 'listless' }))
      const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'OTHER_API_KEY' }
      await plugins.install(
        pluginAt('http://127.0.0.1:9', { id: 'keyless', auth, models_source: { url: 'http://127.0.0.1:9/m' } }),
      )
      await rejects(refresh({ plugins: ['none'] }), 'not_found', /Plugin "none" not found/)
      await rejects(refresh({ plugins: ['listless'] }), 'invalid', /has no models_source/)
      await rejects(refresh({ plugins: ['keyless'] }), 'configuration', /OTHER_API_KEY is not set/)
    },
  ))

const recorded = testData('cassettes', 'openrouter/list-models-2025.json')
const recordedTest = recorded ? test : test.skip

recordedTest("OpenRouter's list of 2025 prices 314 of its 319 models", async () => {
  const { body } = JSON.parse(readFileSync(recorded!, 'utf8')).exchanges[0].response as { body: string }
  await scene(
    (_, response) => json(response, 200, body),
    async ({ refresh, installation }) => {
      const row = await refresh()
      assert.equal([row.error, row.after], [null, 314])
      assert.equal(row.warnings, ['5 models left out: the price varies or has another form'])
      const { prices } = await installation.app.prices()
      const listed = async (model: string) =>
        (await prices.list({ plugin: 'custom', model, limit: 9, offset: 0 })).prices.map(({ rates }) => rates)
      assert.equal(await listed('anthropic/claude-sonnet-4'), [
        { input: '3', output: '15', cached: '0.3', cache_write: '3.75' },
      ])
      assert.equal(await listed('perplexity/sonar-deep-research'), [{ input: '2', output: '8', reasoning: '3' }])
      assert.equal(await listed('openrouter/auto'), [])
      assert.equal(await listed('perplexity/sonar'), [])
    },
  )
})

test('a whole file of a price list is a price file again', () =>
  scene(
    (_, response) => json(response, 200, listOf({ a: '0.000001' })),
    async ({ refresh, take, installation }) => {
      await refresh()
      const { prices } = await installation.app.prices()
      const shown = (await prices.list({ plugin: 'custom', limit: 9, offset: 0 })).prices
      const rows: PriceFile['prices'] = shown.map(({ id: _i, source: _s, origin: _o, fetched_at: _f, ...row }) => row)
      assert.equal((await take(rows))[0]!.written, false)
    },
  ))

test.run()
