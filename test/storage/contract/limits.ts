import * as assert from 'uvu/assert'
import type { AskedBudget, CountedBudget, LimitStore, Reservation } from '../../../src/usage/limits/store.ts'
import { rejects } from '../../helpers/rejection.ts'
import { noon } from '../../helpers/storage/samples.ts'
import { row } from './ledger.ts'
import { type Rule, seen } from './rule.ts'

const dayMs = 86_400_000
const firstOfJune = Date.UTC(2026, 5, 1)

export const limitRules: readonly Rule[] = [
  {
    store: 'limits',
    topic: 'revisions',
    says: 'a change of a document is seen by other connections, also its removal, and by those alone that do not know it',
    async holds(place) {
      const [one, other] = [await place.open(), await place.open()]
      const marks = [one, other].map(({ changes }) => changes.mark('limits'))
      await one.limits.set('all', { rpm: 5 })
      await one.limits.set('user:ada', { tpm: 9, budgets: [{ nano: 7, period: 'day' }] })
      for (const [at, { changes }] of [one, other].entries())
        await seen(() => changes.mark('limits') !== marks[at], 'the mark of the limits')
      const first = await other.limits.changes(0)
      assert.equal(first.changed, [
        ['all', { rpm: 5 }],
        ['user:ada', { tpm: 9, budgets: [{ nano: 7, period: 'day' }] }],
      ])
      assert.equal((await other.limits.changes(first.revision)).changed, [])
      await one.limits.set('all', { rpm: 6 })
      assert.is(await one.limits.remove('user:ada'), true)
      assert.is(await one.limits.remove('user:ada'), false)
      const { revision, changed } = await other.limits.changes(first.revision)
      assert.equal(changed, [
        ['all', { rpm: 6 }],
        ['user:ada', null],
      ])
      assert.ok(revision > first.revision)
    },
  },
  {
    store: 'limits',
    topic: 'limits',
    says: 'a budget lets through what it has; where one refuses, none is charged, and what is given back is there again',
    async holds(place) {
      const { limits } = await place.open()
      const [user, all] = [budget('user:ada', 100), budget('all', 15)]
      assert.is((await limits.reserve(reservation('a', 10), [user, all])).refused, undefined)
      assert.equal(await limits.reserve(reservation('b', 10), [user, all]), {
        refused: 1,
        spend: { start: firstOfJune, end: firstOfJune + dayMs, spent: 0, reserved: 10 },
      })
      assert.equal(await reservedIn(limits, user, all), [10, 10])
      await limits.cancel('a')
      await limits.cancel('a')
      assert.equal(await reservedIn(limits, user, all), [0, 0])
      assert.is((await limits.reserve(reservation('c', 15), [user, all])).refused, undefined)
      assert.is((await limits.reserve(reservation('d', 1), [user, all])).refused, 1)
      assert.is(await limits.extend('c', 1, [user, { ...all, hard: true }]), false)
      assert.is(await limits.extend('c', 85, [user, all]), true)
      assert.equal(await reservedIn(limits, user, all), [100, 100])
      assert.is(await limits.extend('unknown', 1, [user]), false)
    },
  },
  {
    store: 'limits',
    topic: 'edits',
    says: 'what is spent is what the ledger holds: from before a budget, for every subject; and what was reserved without a known price',
    async holds(place) {
      const { limits, ledger } = await place.open()
      const mine = { key: 'k', at: noon }
      await ledger.append([row('old', 1, mine), row('other', 1, { ...mine, user: 'eve', key: null, plugin: 'groq' })])
      const all = ['all', 'user:ada', 'key:k', 'plugin:openai'].map((subject) => budget(subject, 1000))
      assert.equal(await spentIn(limits, ...all), [14, 7, 7, 7])
      await limits.reserve(reservation('r1', 500), all)
      await limits.reserve(reservation('r2', 100), all)
      await ledger.append([
        row('new', 1, { ...mine, reservation: 'r1', cost: { nano: 60, source: 'shipped', priceId: null } }),
      ])
      assert.equal(await spentIn(limits, ...all), [74, 67, 67, 67])
      assert.equal(await reservedIn(limits, ...all), [100, 100, 100, 100])
      await ledger.append([
        row('new', 1, { ...mine, reservation: 'r1' }),
        row('free', 1, { user: 'eve', plugin: null }),
      ])
      assert.equal(await spentIn(limits, ...all), [81, 67, 67, 67])
      await ledger.append([row('unknown', 1, { reservation: 'r2', cost: { nano: null, source: null, priceId: null } })])
      // The cost is unknown: the whole reservation counts.
      assert.equal(await spentIn(limits, ...all), [181, 167, 167, 167])
      assert.equal(await reservedIn(limits, ...all), [0, 0, 0, 0])
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'scopes',
    says: 'a row counts in its own period and time zone alone',
    async holds(place) {
      const { limits, ledger } = await place.open()
      const today = budget('all', 100)
      const tomorrow = { ...budget('all', 100), start: today.end, end: today.end + dayMs, days: days('2026-06-02') }
      // From 12:00 of a day to that of the next, of which the ledger's days know nothing.
      const { days: _, ...rest } = budget('all', 100)
      const elsewhere = { ...rest, zone: 'Etc/GMT+12', start: noon, end: noon + dayMs }
      for (const each of [today, elsewhere]) await limits.reserve(reservation(`r${each.zone}`, 1), [each])
      await ledger.append([
        row('a', 1, { at: noon - 1 }),
        row('b', 1, { at: noon }),
        row('c', 1, { at: today.end, day: '2026-06-02' }),
      ])
      assert.equal(await spentIn(limits, today, elsewhere, tomorrow), [14, 14, 7])
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'ties',
    says: 'a period stays where the clock is set back over its start, and nothing is spent twice',
    async holds(place) {
      const { limits, ledger } = await place.open()
      const before = budget('all', 100)
      const after = { ...before, start: before.end, end: before.end + dayMs, days: days('2026-06-02') }
      await limits.reserve(reservation('a', 60), [before])
      await limits.reserve(reservation('b', 90), [after])
      // The clock is set back by an hour: it is the day before, and the new period goes on.
      assert.is((await limits.reserve(reservation('c', 20), [before])).refused, 0)
      assert.is((await limits.reserve(reservation('d', 10), [before])).refused, undefined)
      assert.equal(
        (await limits.spends([before])).map(({ start, reserved }) => [start, reserved]),
        [[after.start, 100]],
      )
      await ledger.append([
        row('d', 1, { reservation: 'd', at: noon, cost: { nano: 10, source: 'shipped', priceId: null } }),
      ])
      assert.equal(
        (await limits.spends([before])).map(({ spent, reserved }) => [spent, reserved]),
        [[10, 90]],
      )
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'snapshots',
    says: 'a reset clears the spend of its period and no reservation, and a warning is given once for each limit',
    async holds(place) {
      const { limits, ledger } = await place.open()
      const one = budget('all', 100)
      await limits.reserve(reservation('a', 5), [one])
      await ledger.append([row('a', 1, { cost: { nano: 80, source: 'shipped', priceId: null } })])
      const warned = async (id: string, limit = 100) => {
        const outcome = await limits.reserve(reservation(id, 1), [{ ...one, limit }])
        return outcome.refused === undefined && outcome.warned.length > 0
      }
      assert.equal([await warned('b'), await warned('c'), await warned('d', 101)], [true, false, false])
      await limits.reset([one])
      assert.equal(
        (await limits.spends([one])).map(({ spent, reserved }) => [spent, reserved]),
        [[0, 8]],
      )
      assert.is(await warned('e'), false)
      await ledger.append([row('f', 1, { cost: { nano: 90, source: 'shipped', priceId: null } })])
      assert.equal([await warned('g'), await warned('h')], [true, false])
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'edits',
    says: 'a change takes and removes what it names and leaves the rest; the last one that it removes ends the limits',
    async holds(place) {
      const { limits } = await place.open()
      const day = { nano: 7, period: 'day' as const }
      assert.equal(await limits.change('all', { rpm: 5, tpm: null, budgets: [day] }), { rpm: 5, budgets: [day] })
      assert.equal(await limits.change('all', { rpm: null, tpd: 9, ofBudgets: { warn: 90 } }), {
        tpd: 9,
        budgets: [{ ...day, warn: 90 }],
      })
      const twins = [
        { ...day, timezone: 'UTC' },
        { ...day, timezone: 'Asia/Tokyo' },
      ]
      for (const [change, reason] of [
        [{ rpm: 1, budgets: [], ofBudgets: { hard: true } }, /no budget to change/],
        [{ rpm: 1, budgets: twins, ofBudgets: { timezone: 'UTC' } }, /one period/],
      ] as const)
        await rejects(limits.change('all', change), 'invalid', reason)
      assert.equal(await limits.change('all', { budgets: [] }), { tpd: 9 })
      assert.equal((await limits.changes(0)).changed, [['all', { tpd: 9 }]])
      assert.equal(await limits.change('all', { tpd: null }), {})
      assert.equal((await limits.changes(0)).changed, [['all', null]])
      assert.is(await limits.remove('all'), false)
      for (const change of [{}, { tpd: null, budgets: [] }])
        await rejects(limits.change('all', change), 'invalid', /Nothing is limited/)
      assert.equal(await limits.change('all', { parallel: 2 }), { parallel: 2 })
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'changes at once over two connections lose none of what another one named',
    async holds(place) {
      const stores = [(await place.open()).limits, (await place.open()).limits]
      const rates = ['rpm', 'rpd', 'tpm', 'tpd', 'parallel'] as const
      for (let round = 1; round <= 5; round++)
        await Promise.all(rates.map((rate, at) => stores[at % 2]!.change('user:ada', { [rate]: round * 10 + at })))
      const { changed } = await stores[0]!.changes(0)
      assert.equal(changed, [['user:ada', { rpm: 50, rpd: 51, tpm: 52, tpd: 53, parallel: 54 }]])
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'two connections that reserve at once get what a budget has, and not more',
    async holds(place) {
      const stores = [(await place.open()).limits, (await place.open()).limits]
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, async (_, at) =>
          stores[at % 2]!.reserve(reservation(`r${at}`, 3), [budget('user:ada', 30), budget('all', 1000)]),
        ),
      )
      assert.is(outcomes.filter(({ refused }) => refused === undefined).length, 10)
      assert.equal(await reservedIn(stores[0]!, budget('user:ada', 30), budget('all', 1000)), [30, 30])
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'documents that are set at once over two connections are all seen by a reader that goes on from what it knows',
    async holds(place) {
      const [one, other] = [(await place.open()).limits, (await place.open()).limits]
      const seenSubjects = new Set<string>()
      let revision = 0
      const look = async () => {
        const news = await one.changes(revision)
        revision = news.revision
        for (const [subject] of news.changed) seenSubjects.add(subject)
      }
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          await (at % 2 ? one : other).set(`user:u${at}`, { rpm: at + 1 })
          await look()
        }),
      )
      await look()
      assert.is(seenSubjects.size, 20)
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'a budget that is asked for the first time while rows are booked over another connection counts each of them once',
    async holds(place) {
      const [one, other] = [await place.open(), await place.open()]
      const asked = Array.from({ length: 8 }, (_, at) => budget(`user:u${at}`, 1e9))
      await Promise.all(
        asked.flatMap((each, at) => {
          const user = `u${at}`
          return [
            ...[1, 2, 3].map((attempt) => other.ledger.append([row(`r${at}`, attempt, { user })])),
            (async () => one.limits.reserve({ ...reservation(`a${at}`, 5), user }, [each]))(),
            one.ledger.append([row(`s${at}`, 1, { user })]),
          ]
        }),
      )
      assert.equal(
        await spentIn(other.limits, ...asked),
        asked.map(() => 28),
      )
      assert.equal(await one.ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'a reservation that is settled, extended and given back at once over two connections is given back once',
    async holds(place) {
      const [one, other] = [await place.open(), await place.open()]
      const asked = ['user:ada', 'all'].map((subject) => budget(subject, 1000))
      for (let at = 0; at < 10; at++) await one.limits.reserve(reservation(`r${at}`, 10), asked)
      await Promise.all(
        Array.from({ length: 10 }, (_, at) => [
          other.ledger.append([row(`own ${at}`, 1, { reservation: `r${at}` })]),
          (async () => one.limits.extend(`r${at}`, 5, asked))(),
          (async () => one.limits.cancel(`r${at}`))(),
          (async () => other.limits.cancel(`r${at}`))(),
        ]).flat(),
      )
      assert.equal(await reservedIn(one.limits, ...asked), [0, 0])
      assert.equal(await spentIn(one.limits, ...asked), [70, 70])
      assert.equal(await other.ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'ties',
    says: 'an attempt is booked once, by an estimate of what was left or by its own row, whichever comes first',
    async holds(place) {
      const [one, other] = [await place.open(), await place.open()]
      const all = budget('all', 1000)
      for (const id of ['a', 'b']) await one.limits.reserve(reservation(id, 40), [all])
      const estimate = (id: string) => row(id, 1, { reservation: id, estimated: true, cost: costOf(40) })
      const own = (id: string) => row(`own ${id}`, 1, { reservation: id })
      assert.equal([await one.ledger.append([own('a')]), await other.ledger.append([estimate('a')])], [1, 0])
      assert.equal([await other.ledger.append([estimate('b')]), await one.ledger.append([own('b')])], [1, 0])
      assert.equal(await spentIn(one.limits, all), [47])
      assert.equal(await reservedIn(one.limits, all), [0])
      assert.equal(await one.ledger.check(), [])
    },
  },
  {
    store: 'limits',
    topic: 'filters',
    says: 'windows are there for the next start, but those of limits that were removed',
    async holds(place) {
      const { limits } = await place.open()
      await limits.set('all', { rpm: 5 })
      await limits.set('user:ada', { rpm: 5 })
      const windows = [
        { subject: 'all', name: 'rpm' as const, slots: [5, 2, 7, 1] },
        { subject: 'user:ada', name: 'rpm' as const, slots: [5, 1] },
      ]
      await limits.saveWindows(['all', 'user:ada'], windows)
      assert.equal(await (await place.open()).limits.windows(), windows)
      await limits.remove('user:ada')
      await limits.saveWindows(['user:ada'], windows.slice(1))
      assert.equal(await limits.windows(), windows.slice(0, 1))
      await limits.saveWindows(['all'], [])
      assert.equal(await limits.windows(), [])
    },
  },
  {
    store: 'limits',
    topic: 'concurrency',
    says: 'instances that change shared counts at once lose none, and see what the others have under way, but not of subjects without limits',
    async holds(place) {
      const stores = [(await place.open()).limits, (await place.open()).limits]
      await stores[0]!.set('all', { rpm: 99, parallel: 9 })
      /** Counts one request more; resolves with what was counted before. */
      const one = (store: LimitStore, here: number) =>
        store.share(['user:eve', 'all'], (counts) => {
          const { windows, elsewhere } = counts.get('all')!
          const [, before = 0] = windows.rpm ?? []
          const changed = { windows: { rpm: [7, before + 1], tpm: [] }, here }
          const result = { before, elsewhere, subjects: [...counts.keys()] }
          return { counts: new Map([...counts.keys(), 'user:eve'].map((subject) => [subject, changed])), result }
        })
      const counted = await Promise.all(Array.from({ length: 20 }, (_, at) => one(stores[at % 2]!, 2 + (at % 2))))
      assert.equal(
        counted.map(({ before }) => before).sort((a, b) => a - b),
        [...counted.keys()],
      )
      const last = await Promise.all(stores.map((store, at) => one(store, 2 + at)))
      assert.equal(
        last.map(({ elsewhere, subjects }) => [elsewhere, subjects]),
        [
          [3, ['all']],
          [2, ['all']],
        ],
      )
      assert.equal(await stores[0]!.windows(), [{ subject: 'all', name: 'rpm', slots: [7, 22] }])
      // All of them run.
      assert.is(await stores[1]!.dropEnded(['all']), false)
      await stores[0]!.share(['all'], (counts, at) => {
        assert.ok(Math.abs(at - Date.now()) < 60_000)
        return { counts: new Map([...counts.keys()].map((subject) => [subject, { windows: {}, here: 0 }])), result: 0 }
      })
      assert.is((await one(stores[1]!, 0)).elsewhere, 0)
    },
  },
]

/** A budget of nano-USD for the first of June. */
export function budget(subject: string, limit: number): AskedBudget {
  const start = firstOfJune
  const period = { period: 'day' as const, zone: 'UTC', start, end: start + dayMs, days: days('2026-06-01') }
  return { subject, ...period, limit, hard: false, warn: 80 }
}

function days(day: string) {
  return { first: day, last: day }
}

/** A reservation of ada's, with the key k. */
export function reservation(id: string, nano: number): Reservation {
  return { id, at: noon, nano, user: 'ada', key: 'k', plugin: 'openai', model: 'gpt', input: 10, output: 5 }
}

function costOf(nano: number) {
  return { nano, source: null, priceId: null }
}

async function reservedIn(limits: LimitStore, ...budgets: readonly CountedBudget[]): Promise<readonly number[]> {
  return (await limits.spends(budgets)).map(({ reserved }) => reserved)
}

async function spentIn(limits: LimitStore, ...budgets: readonly CountedBudget[]): Promise<readonly number[]> {
  return (await limits.spends(budgets)).map(({ spent }) => spent)
}
