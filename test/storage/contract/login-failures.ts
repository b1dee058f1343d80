import * as assert from 'uvu/assert'
import type { FailureRule, LoginFailureStore } from '../../../src/accounts/login-failures.ts'
import { createLoginLimit, type LoginLimit } from '../../../src/accounts/login-limit.ts'
import type { AppError } from '../../../src/errors.ts'
import type { Rule } from './rule.ts'

const three: FailureRule = { most: 3, windowMs: 1000 }
const start = 1_000_000

/** The promises about failed logins; times are those of a clock that counts from the start of the machine. */
export const loginFailureRules: readonly Rule[] = [
  {
    store: 'loginFailures',
    topic: 'limits',
    says: 'the last failure allowed refuses the subject for a window, and nothing more is counted until then',
    async holds(place) {
      const { loginFailures: store } = await place.open()
      assert.equal(await fails(store, 'a', 4), [true, true, true, false])
      assert.equal(await store.read('a', start + 999, three), { at: [], refusedUntil: start + 1000 })
      assert.not.ok(await store.forgive('a', 'ada', start + 999, three))
      assert.equal(await store.read('a', start + 1000, three), { at: [], refusedUntil: 0 })
      assert.ok(await store.fail('a', 'ada', start + 1000, three))
      assert.equal(await store.read('a', start + 1001, three), { at: [start + 1000], refusedUntil: 0 })
      assert.equal(await store.read('a', start + 2000, three), { at: [], refusedUntil: 0 })
    },
  },
  {
    store: 'loginFailures',
    topic: 'scopes',
    says: 'subjects are counted apart, and a user takes out only the own failures there',
    async holds(place) {
      const { loginFailures: store } = await place.open()
      for (const [subject, user] of [
        ['a', 'ada'],
        ['a', 'bob'],
        ['b', 'ada'],
      ] as const)
        assert.ok(await store.fail(subject, user, start, three))
      assert.ok(await store.forgive('a', 'ada', start, three))
      assert.ok(await store.forgive('a', 'zoe', start, three))
      assert.equal((await store.read('a', start, three)).at, [start])
      assert.equal((await store.read('b', start, three)).at, [start])
      assert.equal(await fails(store, 'b', 2), [true, true])
      assert.is((await store.read('a', start, three)).refusedUntil, 0)
    },
  },
  {
    store: 'loginFailures',
    topic: 'limits',
    says: 'a refusal ends for all connections when it is released, and tells whose failures led to it until then',
    async holds(place) {
      const [{ loginFailures: store }, { loginFailures: other }] = [await place.open(), await place.open()]
      assert.ok(await store.fail('b', 'bob', start, three))
      assert.ok(await store.fail('a', 'bob', start, three))
      assert.equal(await fails(store, 'a', 3), [true, true, false])
      assert.equal(await other.subjectsOf('ada'), ['a'])
      assert.equal(await other.subjectsOf('bob'), ['a', 'b'])
      assert.equal(await other.subjectsOf('zoe'), [])
      assert.ok(await other.release('a'))
      assert.not.ok(await other.release('a'))
      assert.equal(await store.read('a', start + 1, three), { at: [], refusedUntil: 0 })
      assert.equal(await store.read('b', start + 1, three), { at: [start], refusedUntil: 0 })
      assert.equal(await store.subjectsOf('bob'), ['b'])
    },
  },
  {
    store: 'loginFailures',
    topic: 'concurrency',
    says: 'of failures on two connections at once as many are counted as are allowed',
    async holds(place) {
      const stores = [await place.open(), await place.open()]
      const outcomes = await Promise.all(
        stores.flatMap(({ loginFailures }) =>
          Array.from({ length: 5 }, () => loginFailures.fail('a', 'ada', start, three)),
        ),
      )
      assert.is(outcomes.filter(Boolean).length, 3)
      for (const { loginFailures } of stores)
        assert.is((await loginFailures.read('a', start, three)).refusedUntil, start + 1000)
    },
  },
  {
    store: 'loginFailures',
    topic: 'concurrency',
    says: 'what another connection counted a moment later than now counts, and refuses',
    async holds(place) {
      const [one, other] = [(await place.open()).loginFailures, (await place.open()).loginFailures]
      for (const later of [5, 7]) assert.ok(await other.fail('a', 'ada', start + later, three))
      assert.equal(await one.read('a', start, three), { at: [start + 5, start + 7], refusedUntil: 0 })
      assert.ok(await other.fail('a', 'ada', start + 9, three))
      assert.equal(await one.read('a', start, three), { at: [], refusedUntil: start + 1009 })
      assert.not.ok(await one.fail('a', 'ada', start, three))
      assert.not.ok(await one.forgive('a', 'ada', start, three))
    },
  },
  {
    store: 'loginFailures',
    topic: 'concurrency',
    says: 'of a hundred wrong guesses at once on each of three connections five are judged in all',
    async holds(place) {
      const limits = await Promise.all(
        [1, 2, 3].map(async () =>
          createLoginLimit({
            store: (await place.open()).loginFailures,
            kind: 'login',
            what: 'Too many failed logins',
            most: () => 5,
          }),
        ),
      )
      const guess = async (limit: LoginLimit): Promise<string> => {
        try {
          const attempt = await limit.reserve('address')
          // Here the password is checked.
          await new Promise((resolve) => setImmediate(resolve))
          await attempt.fail('ada')
          return 'judged'
        } catch (reason) {
          return (reason as AppError).code
        }
      }
      const outcomes = await Promise.all(limits.flatMap((limit) => Array.from({ length: 100 }, () => guess(limit))))
      const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
      assert.equal([count('judged'), count('rate_limited')], [5, 295])
    },
  },
  {
    store: 'loginFailures',
    topic: 'limits',
    says: 'the clock is the same for all connections, and goes forward',
    async holds(place) {
      const [one, other] = [(await place.open()).loginFailures, (await place.open()).loginFailures]
      const times: number[] = []
      for (let count = 0; count < 10; count++) times.push(await (count % 2 ? one : other).now())
      assert.equal(
        times,
        times.toSorted((a, b) => a - b),
      )
      assert.ok(times.every(Number.isInteger))
    },
  },
]

async function fails(store: LoginFailureStore, subject: string, times: number): Promise<readonly boolean[]> {
  const outcomes: boolean[] = []
  for (let count = 0; count < times; count++) outcomes.push(await store.fail(subject, 'ada', start, three))
  return outcomes
}
