import * as assert from 'uvu/assert'
import type { LedgerRow, LedgerStore, RowQuery, UsageQuery } from '../../../src/usage/ledger/ledger.ts'
import { noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const june: UsageQuery = { by: [], since: '2026-06-01', until: '2026-06-30' }

export const ledgerRules: readonly Rule[] = [
  {
    store: 'ledger',
    topic: 'ties',
    says: 'an attempt counts once, however often and by whichever process it is appended',
    async holds(place) {
      const [one, other] = [(await place.open()).ledger, (await place.open()).ledger]
      assert.is(await one.append([row('a', 1), row('a', 2)]), 2)
      assert.is(await other.append([row('a', 2), row('b', 1)]), 1)
      assert.is(await one.append([row('b', 1), row('b', 1)]), 0)
      assert.is((await one.sums(june))[0]?.requests, 3)
      assert.equal(await one.check(), [])
    },
  },
  {
    store: 'ledger',
    topic: 'filters',
    says: 'sums are of the asked days, users, keys, plugins and models, in the order of their columns',
    async holds(place) {
      const { ledger } = await place.open()
      await ledger.append([
        row('a', 1, { user: 'eve', key: 'k', day: '2026-06-02' }),
        row('b', 1, { plugin: null, model: 'tiny', cost: { nano: 0, source: 'local', priceId: null } }),
        row('c', 1, { cost: { nano: null, source: null, priceId: null }, outcome: 'broken', estimated: true }),
        row('d', 1, { day: '2026-07-01' }),
      ])
      const sums = await ledger.sums({ ...june, by: ['day', 'user', 'key', 'plugin', 'model'] })
      assert.equal(
        sums.map(({ day, user, key, plugin, model, requests, cost_nano, unpriced, estimated }) =>
          [day, user, key, plugin, model, requests, cost_nano, unpriced, estimated].join(),
        ),
        ['2026-06-01,ada,,,tiny,1,0,0,0', '2026-06-01,ada,,openai,gpt,1,0,1,1', '2026-06-02,eve,k,openai,gpt,1,7,0,0'],
      )
      const asked = async (query: Partial<UsageQuery>) => (await ledger.sums({ ...june, ...query }))[0]?.requests
      assert.is(await asked({ user: 'eve' }), 1)
      assert.is(await asked({ key: 'k' }), 1)
      assert.is(await asked({ plugin: 'openai', model: 'gpt' }), 2)
      assert.is(await asked({ model: "gpt' OR 1=1 --" }), 0)
      assert.is(await asked({ until: '2026-07-01' }), 4)
    },
  },
  {
    store: 'ledger',
    topic: 'order',
    says: 'rows come back whole, in the order of their time',
    async holds(place) {
      const { ledger } = await place.open()
      const amounts = {
        input: 9,
        cached: 3,
        cacheWrite: 1,
        output: 4,
        reasoning: 2,
        serviceTier: 'flex',
        characters: 5,
      }
      const late = row('z', 1, { at: noon + 5, amounts, key: 'k', lowerBound: true, outcome: 'cancelled' })
      const early = row('y', 1, { at: noon - 5 })
      await ledger.append([late, early])
      assert.equal(await rowsOf(ledger), [early, late])
    },
  },
  {
    store: 'ledger',
    topic: 'order',
    says: 'rows come newest first where that is asked, of a time and of some outcomes, and are summed up by minute',
    async holds(place) {
      const { ledger } = await place.open()
      const minute = Math.floor(noon / 60_000) * 60_000
      await ledger.append([
        row('a', 1, { at: minute, firstMs: 100, user: 'eve' }),
        row('b', 1, { at: minute + 1, firstMs: 200, outcome: 'broken' }),
        row('c', 1, { at: minute + 2, outcome: 'cancelled', cost: { nano: null, source: null, priceId: null } }),
        row('d', 1, { at: minute + 60_000, outcome: 'failed', reason: 'overloaded 503' }),
      ])
      const { by: _, ...time } = june
      const asked = async (query: Partial<RowQuery>) =>
        (await rowsOf(ledger, { ...time, ...query })).map(({ request }) => request).join('')
      assert.is(await asked({ isNewestFirst: true }), 'dcba')
      assert.is(await asked({ isNewestFirst: true, from: minute + 1, to: minute + 2 }), 'cb')
      assert.is(await asked({ isNewestFirst: true, outcomes: ['failed', 'broken'] }), 'db')
      assert.is(await asked({ outcomes: ['answered'], user: 'ada' }), '')
      assert.is((await rowsOf(ledger, { ...time, request: 'd' }))[0]?.reason, 'overloaded 503')
      assert.equal(await ledger.minutes({ ...time, from: minute }), [
        { at: minute, requests: 3, failed: 1, cost_nano: 14, first_ms: 150 },
        { at: minute + 60_000, requests: 1, failed: 1, cost_nano: 7, first_ms: null },
      ])
      assert.is((await ledger.minutes({ ...time, user: 'eve' }))[0]?.requests, 1)
      assert.equal(await ledger.minutes({ ...time, user: 'nobody' }), [])
    },
  },
  {
    store: 'ledger',
    topic: 'filters',
    says: 'names are told apart and come back whole, however long they are, and amounts are exact up to what a number holds',
    async holds(place) {
      const { ledger, limits } = await place.open()
      const model = '𝓂'.repeat(500)
      const other = `${model.slice(0, -2)}n`
      const nano = Number.MAX_SAFE_INTEGER - 7
      await ledger.append([
        row('a', 1, { model, user: 'é', amounts: { input: 1, output: 1, serviceTier: 'ß'.repeat(1000) } }),
        row('b', 1, { model: other, user: 'é', cost: { nano, source: 'shipped', priceId: null } }),
      ])
      const sums = await ledger.sums({ ...june, by: ['model'] })
      assert.equal(
        sums.map((group) => [group.model, group.cost_nano]).sort(),
        [
          [other, nano],
          [model, 7],
        ].sort(),
      )
      assert.is((await ledger.sums({ ...june, model: other }))[0]?.requests, 1)
      assert.is((await ledger.sums(june))[0]?.cost_nano, Number.MAX_SAFE_INTEGER)
      assert.equal((await rowsOf(ledger)).map((each) => each.amounts.serviceTier?.length).filter(Boolean), [1000])
      const [start, end] = [Date.UTC(2026, 5, 1), Date.UTC(2026, 6, 1)]
      const [spend] = await limits.spends([
        { subject: 'user:é', period: 'month', zone: 'UTC', start, end, days: { first: june.since, last: june.until } },
      ])
      assert.is(spend?.spent, Number.MAX_SAFE_INTEGER)
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'ledger',
    topic: 'limits',
    says: 'rows before a day are removed, and their sums stay and agree',
    async holds(place) {
      const { ledger } = await place.open()
      await ledger.append([row('a', 1), row('b', 1, { day: '2026-06-02' }), row('c', 1, { day: '2026-06-03' })])
      assert.is(await ledger.prune('2026-06-03'), 2)
      assert.equal(
        (await rowsOf(ledger)).map(({ request }) => request),
        ['c'],
      )
      assert.is((await ledger.sums(june))[0]?.requests, 3)
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'ledger',
    topic: 'order',
    says: 'other work goes on between two batches of rows, also where their reader never waits',
    async holds(place) {
      const { ledger } = await place.open()
      await ledger.append(Array.from({ length: 501 }, (_, at) => row(`a${at}`, 1, { at: noon + at })))
      let hasTurned = false
      setImmediate(() => {
        hasTurned = true
      })
      const turned: boolean[] = []
      let count = 0
      for await (const batch of await ledger.rows({ since: june.since, until: june.until })) {
        turned.push(hasTurned)
        count += batch.length
      }
      assert.is(count, 501)
      assert.is(turned.length, 2)
      assert.ok(turned[1])
    },
  },
  {
    store: 'ledger',
    topic: 'concurrency',
    says: 'rows of two connections at once are all there, and so are their sums',
    async holds(place) {
      const stores = [(await place.open()).ledger, (await place.open()).ledger]
      const batches = Array.from({ length: 20 }, (_, at) => [row(`a${at}`, 1), row(`b${at}`, 1)])
      for (const [at, batch] of batches.entries()) await retried(() => stores[at % 2]!.append(batch))
      assert.is((await stores[0]!.sums(june))[0]?.requests, 40)
      assert.is((await stores[0]!.sums(june))[0]?.cost_nano, 280)
      assert.equal(await stores[1]!.check(), [])
    },
  },
]

/** An attempt that answered. */
export function row(request: string, attempt: number, more: Partial<LedgerRow> = {}): LedgerRow {
  return {
    request,
    attempt,
    at: noon,
    day: '2026-06-01',
    user: 'ada',
    key: null,
    plugin: 'openai',
    model: 'gpt',
    purpose: 'chat',
    outcome: 'answered',
    estimated: false,
    lowerBound: false,
    amounts: { input: 10, output: 5 },
    cost: { nano: 7, source: 'shipped', priceId: 'p1' },
    durationMs: 12,
    ...more,
  }
}

async function rowsOf(
  ledger: LedgerStore,
  query: RowQuery = { since: june.since, until: june.until },
): Promise<readonly LedgerRow[]> {
  const found: LedgerRow[] = []
  for await (const batch of await ledger.rows(query)) found.push(...batch)
  return found
}

/** A store may be busy for a moment while another connection writes. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (reason) {
      if (tries === 20) throw reason
    }
  }
}
