import * as assert from 'uvu/assert'
import { mostStoredPrices, type PriceKey } from '../../../src/usage/prices/store.ts'
import { rejects } from '../../helpers/rejection.ts'
import { newPrice, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const keyOf = (model: string, more: Partial<PriceKey> = {}): PriceKey => ({
  source: 'operator',
  plugin: 'p',
  model,
  ...more,
})

export const priceRules: readonly Rule[] = [
  {
    store: 'prices',
    topic: 'revisions',
    says: 'a price comes back as it was set; a newer one supersedes it, and changes nothing of it',
    async holds(place) {
      const { prices } = await place.open()
      const rates = { input: 1, output: 2, cached: 3, cacheWrite: 4, cacheWriteLong: 5, audioInput: 6, audioOutput: 7 }
      const first = {
        ...newPrice('__proto__', 1, {
          rates: { ...rates, reasoning: 999_999_999_999 },
          long: { above: 200_000, rates },
          services: new Map([['flex', { rates: { input: 1 }, long: { above: 1, rates: { input: 2 } } }]]),
          also: ['alias', 'dated-#*'],
          except: ['dated-1'],
          validFrom: noon,
        }),
      }
      const { ids } = await prices.write({ set: [first], end: [] }, noon)
      const { price, ...source } = first
      const stored = { ...price, ...source, id: ids[0]!, setAt: noon }
      assert.equal(await prices.list(), [stored])

      const same = await prices.write({ set: [first], end: [] }, noon + 1)
      assert.equal(same, { ids, ended: 0 })
      assert.equal(await prices.list(), [stored])

      const next = { ...first, price: { ...price, rates: { input: 9 } } }
      const { ids: later, ended } = await prices.write({ set: [next], end: [] }, noon + 2)
      assert.is(ended, 1)
      assert.is.not(later[0], ids[0])
      assert.equal(
        (await prices.list()).map(({ id }) => id),
        later,
      )
      assert.is((await prices.write({ set: [], end: [keyOf('__proto__', { validFrom: noon })] }, noon + 3)).ended, 1)
      assert.equal(await prices.list(), [])
      const { ids: again } = await prices.write({ set: [next], end: [] }, noon + 4)
      assert.not.ok([...ids, ...later].includes(again[0]!), 'an id is used again')
    },
  },
  {
    store: 'prices',
    topic: 'order',
    says: 'prices are listed in the order in which they were set, whatever their keys',
    async holds(place) {
      const { prices } = await place.open()
      const set = ['b', 'c', 'a'].map((model) => newPrice(model, 1))
      await prices.write({ set, end: [] }, noon)
      await prices.write({ set: [newPrice('c', 1, { validFrom: noon }), newPrice('b', 2)], end: [] }, noon - 5)
      await prices.write(
        { set: [{ ...newPrice('c', 1), source: 'refreshed' }], end: [keyOf('a'), keyOf('none')] },
        noon,
      )
      assert.equal(
        (await prices.list()).map(({ source, model, validFrom }) => [source, model, validFrom]),
        [
          ['operator', 'c', undefined],
          ['operator', 'c', noon],
          ['operator', 'b', undefined],
          ['refreshed', 'c', undefined],
        ],
      )
    },
  },
  {
    store: 'prices',
    topic: 'limits',
    says: 'a change beyond the most prices that are kept is refused whole',
    async holds(place) {
      const { prices } = await place.open()
      await prices.write({ set: [newPrice('first', 1)], end: [] }, noon)
      const set = Array.from({ length: mostStoredPrices }, (_, at) => newPrice(`m${at}`, 1))
      await rejects(prices.write({ set, end: [] }, noon), 'too_large', /50000 prices/)
      assert.is((await prices.list()).length, 1)
    },
  },
  {
    store: 'prices',
    topic: 'concurrency',
    says: 'of prices for one key, over two connections, the last one holds, and both see it',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.prices.write({ set: [newPrice('m', at)], end: [] }, noon + at),
        ),
      )
      const [first, second] = [await both[0]!.prices.list(), await both[1]!.prices.list()]
      assert.is(first.length, 1)
      assert.equal(second, first)
    },
  },
]
