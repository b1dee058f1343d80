import * as assert from 'uvu/assert'
import { allowedFailures, createLoginLimit, windowMs } from '../../src/accounts/login-limit.ts'
import { createRateLimit } from '../../src/accounts/rate-limit.ts'
import { AppError } from '../../src/errors.ts'
import { suite } from '../suite.ts'

const test = suite('the login limit')

test('five failures pass, then nothing does for fifteen minutes after the fifth', async () => {
  const { limit, fail, clock } = open()
  for (let count = 0; count < allowedFailures; count++) {
    await fail('a', `user${count}`)
    clock.now += 1000
  }
  const refused = await refusal(limit.reserve('a'))
  assert.is(refused.code, 'rate_limited')
  assert.is(refused.retryAfter, 899)
  clock.now += windowMs - 1001
  assert.is((await refusal(limit.reserve('a'))).retryAfter, 1)
  clock.now += 2
  ;(await limit.reserve('a')).withdraw()
})

test('other addresses are not concerned', async () => {
  const { limit, fail } = open()
  for (let count = 0; count < allowedFailures; count++) await fail('a', 'ada')
  limit.check('b')
  assert.equal(limit.allowance('b'), { left: 5, resetSeconds: 900 })
  assert.is(limit.allowance('a').left, 0)
})

test('failures older than the window do not count', async () => {
  const { limit, fail, clock } = open()
  for (let count = 0; count < 4; count++) await fail('a', 'ada')
  clock.now += windowMs
  await fail('a', 'ada')
  assert.is(limit.allowance('a').left, 4)
})

test('a success takes out that user’s failures and nobody else’s', async () => {
  const { limit, fail } = open()
  // An attacker cannot reset the count by logging in to an account of their own.
  for (let count = 0; count < 4; count++) await fail('a', 'victim')
  for (let count = 0; count < 20; count++) (await limit.reserve('a')).succeed('own')
  assert.is(limit.allowance('a').left, 1)
  await fail('a', 'victim')
  assert.is((await refusal(limit.reserve('a'))).code, 'rate_limited')
})

test('a success of the user who mistyped gives the attempts back', async () => {
  const { limit, fail } = open()
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 4; count++) await fail('a', 'ada')
    ;(await limit.reserve('a')).succeed('ada')
    assert.is(limit.allowance('a').left, 5)
  }
})

test('a hundred wrong ones at once are five failures and ninety-five refusals', async () => {
  const { limit } = open()
  let judged = 0
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, async () => {
      try {
        const attempt = await limit.reserve('a')
        judged++
        await new Promise((resolve) => setImmediate(resolve))
        attempt.fail('ada')
        return 'failed'
      } catch (reason) {
        return (reason as AppError).code
      }
    }),
  )
  assert.is(judged, 5)
  assert.is(outcomes.filter((outcome) => outcome === 'rate_limited').length, 95)
})

test('a hundred right ones at once all pass', async () => {
  const { limit } = open()
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const attempt = await limit.reserve('a')
      await new Promise((resolve) => setImmediate(resolve))
      attempt.succeed(`user${index}`)
    }),
  )
  assert.is(limit.allowance('a').left, 5)
})

test('what was not judged does not count', async () => {
  const { limit } = open()
  for (let count = 0; count < 50; count++) (await limit.reserve('a')).withdraw()
  assert.is(limit.allowance('a').left, 5)
})

test('a flood of fresh addresses pushes out none that is refused', async () => {
  const { limit, fail } = open()
  for (let count = 0; count < allowedFailures; count++) await fail('blocked', 'ada')
  for (let index = 0; index < 60_000; index++) await fail(`flood${index}`, 'x')
  assert.is((await refusal(limit.reserve('blocked'))).code, 'rate_limited')
  assert.is(limit.allowance('flood0').left, 5, 'the oldest of the flood is forgotten')
  assert.is(limit.allowance('flood59999').left, 4)
})

test('a rate is so many a window for each key', () => {
  const clock = { now: 0 }
  const rate = createRateLimit({ limit: 3, windowMs: 1000 }, () => clock.now)
  for (let count = 0; count < 3; count++) rate.take('a')
  assert.throws(
    () => rate.take('a'),
    (reason: unknown) => reason instanceof AppError && reason.code === 'rate_limited' && reason.retryAfter === 1,
  )
  rate.take('b')
  clock.now += 1000
  rate.take('a')
})

test.run()

function open() {
  const clock = { now: 0 }
  const limit = createLoginLimit(() => clock.now)
  return { clock, limit, fail: async (address: string, user: string) => (await limit.reserve(address)).fail(user) }
}

async function refusal(attempt: Promise<unknown>): Promise<AppError> {
  const reason = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.instance(reason, AppError)
  return reason as AppError
}
