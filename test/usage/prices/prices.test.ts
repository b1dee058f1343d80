import * as assert from 'uvu/assert'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { priceOf } from '../../../src/usage/prices/price-file.ts'
import type { PriceRow } from '../../../src/usage/prices/price-schema.ts'
import { createPrices, type Prices } from '../../../src/usage/prices/prices.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { rejects } from '../../helpers/rejection.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the prices of an installation')

const place = { plugin: 'openai', model: 'gpt-4.1' }
const amounts = { input: 1000, output: 0 }
const noon = Date.UTC(2026, 10, 22, 12)
const whole = { limit: 100, offset: 0 }

const row = (input: string, more: Partial<PriceRow> = {}): PriceRow => ({ ...place, rates: { input }, ...more })

interface Scene {
  /** Prices as of another process, with a storage and a clock of their own. */
  open(): Promise<{ prices: Prices; storage: Storage; wait(ms: number): void; warnings: string[] }>
}

async function scene(run: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const opened: Storage[] = []
  try {
    await run({
      async open() {
        const storage = await openStorage(storageIn(folder))
        opened.push(storage)
        const warnings: string[] = []
        let passed = 0
        const wait = (ms: number) => {
          passed += ms
        }
        const prices = await createPrices({
          store: storage.prices,
          mark: () => storage.changes.mark('prices'),
          shipped: () => {
            const prices = [priceOf(row('2'))]
            const of = (plugin: string) => prices.filter((price) => price.plugin === plugin)
            return { prices, of, source: 'the shipped file', fetchedAt: '2026-09-23' }
          },
          now: () => passed,
          clock: () => noon,
          warn: (message) => warnings.push(message),
        })
        return { prices, storage, warnings, wait }
      },
    })
  } finally {
    for (const storage of opened) await storage.close()
  }
}

const costIn = (prices: Prices) => prices.costOf(place, amounts, noon)

/** Resolves as soon as the cost is that, which another process has made so. */
async function until(prices: Prices, nano: number): Promise<void> {
  while (costIn(prices).nano !== nano) await new Promise((resolve) => setImmediate(resolve))
}

test('the operator’s goes before one that an earlier build took from a list, and that before the shipped one', () =>
  scene(async ({ open }) => {
    const { prices, storage } = await open()
    assert.equal(costIn(prices), {
      nano: 2_000_000,
      source: 'shipped',
      priceId: (await prices.list(whole)).prices[0]!.id,
    })
    const listed = { source: 'refreshed', origin: 'api.openai.com', price: priceOf(row('3')) } as const
    await storage.prices.write({ set: [listed], end: [] }, noon)
    await prices.list(whole)
    assert.equal(costIn(prices), { nano: 3_000_000, source: 'refreshed', priceId: 'p1' })
    const [set] = await prices.set([row('4')], 'ada')
    assert.equal(set, {
      ...row('4'),
      id: 'p2',
      source: 'operator',
      origin: 'ada',
      fetched_at: '2026-11-22T12:00:00.000Z',
    })
    assert.equal(costIn(prices), { nano: 4_000_000, source: 'operator', priceId: 'p2' })
    assert.equal(
      (await prices.list(whole)).prices.map(({ source, rates }) => [source, rates.input]),
      [
        ['operator', '4'],
        ['refreshed', '3'],
        ['shipped', '2'],
      ],
    )
    await prices.unset(place)
    assert.is(costIn(prices).source, 'refreshed')
    await rejects(prices.unset(place), 'not_found', /No price of gpt-4.1 at openai was set here/)
  }))

test('a change of another process counts after a second, for the first request already', () =>
  scene(async ({ open }) => {
    const [mine, other] = [await open(), await open()]
    assert.is(costIn(mine.prices).nano, 2_000_000)
    await other.prices.set([row('7')], 'eve')
    assert.is(costIn(mine.prices).nano, 2_000_000)
    mine.wait(1000)
    assert.is(costIn(mine.prices).nano, 7_000_000)
    assert.is((await mine.prices.list({ ...whole, source: 'operator' })).total, 1)
    await other.prices.unset(place)
    assert.is((await mine.prices.list({ ...whole, source: 'operator' })).total, 0)
  }))

test('prices that cannot be read again leave those before in use', () =>
  scene(async ({ open }) => {
    const [mine, other] = [await open(), await open()]
    await mine.prices.set([row('4')], 'ada')
    const { list } = mine.storage.prices
    Object.assign(mine.storage.prices, { list: () => Promise.reject(new Error('the disk is gone')) })
    await other.prices.set([row('7')], 'eve')
    mine.wait(1000)
    while (mine.warnings.length === 0) {
      assert.is(costIn(mine.prices).nano, 4_000_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match(mine.warnings[0]!, /the disk is gone/)
    Object.assign(mine.storage.prices, { list })
    mine.wait(1000)
    await until(mine.prices, 7_000_000)
  }))

test('a price for a later day waits for it, and one for every model serves the others', () =>
  scene(async ({ open }) => {
    const { prices } = await open()
    const later = Date.UTC(2026, 11, 1)
    await prices.set(
      [row('5', { valid_from: '2026-12-01' }), { plugin: 'own', model: '*', rates: { input: '1' } }],
      'ada',
    )
    assert.is(costIn(prices).source, 'shipped')
    assert.is(prices.costOf(place, amounts, later).nano, 5_000_000)
    assert.is(prices.costOf({ plugin: 'own', model: '__proto__' }, amounts, noon).nano, 1_000_000)
    assert.is(prices.costOf({ plugin: '__proto__', model: 'constructor' }, amounts, noon).nano, null)
    await prices.set([{ plugin: 'own', model: 'gpt-#*', rates: { input: '2' } }], 'ada')
    assert.is(prices.costOf({ plugin: 'own', model: 'GPT-9' }, amounts, noon).nano, 2_000_000)
    await rejects(prices.unset({ ...place, validFrom: noon }), 'not_found', /No price/)
    await prices.unset({ ...place, validFrom: later })
    assert.is(prices.costOf(place, amounts, later).source, 'shipped')
  }))

test('a reader in the middle of a change, and two at once, end with what is stored', () =>
  scene(async ({ open }) => {
    const { prices } = await open()
    await Promise.all(Array.from({ length: 20 }, (_, at) => prices.set([row(String(at + 1))], 'ada')))
    const stored = (await prices.list({ ...whole, source: 'operator' })).prices
    assert.is(stored.length, 1)
    assert.is(costIn(prices).nano, Number(stored[0]!.rates.input) * 1_000_000)
  }))

test.run()
