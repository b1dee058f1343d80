import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createLoginLimit, windowMs } from '../../src/accounts/login-limit.ts'
import { createRateLimit } from '../../src/accounts/rate-limit.ts'
import { AppError } from '../../src/errors.ts'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { createLoginFailureStore } from '../../src/storage/stores/login-failures.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { driverOf } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the login limit')

const folder = temporaryFolder()
const connections: { close(): unknown }[] = []
test.after(() => {
  for (const connection of connections) connection.close()
})

test('five failures pass, then nothing does for fifteen minutes after the fifth', async () => {
  const { limit, fail, clock } = await open()
  for (let count = 0; count < 5; count++) {
    await fail('a', `user${count}`)
    clock.now += 1000
  }
  const refused = await refusal(limit.reserve('a'))
  assert.equal([refused.code, refused.retryAfter], ['rate_limited', 899])
  assert.equal(refused.details, [
    'Try again in 15 minutes',
    'A new password ends the wait: aichat users reset-password USER',
  ])
  clock.now += windowMs - 1001
  const last = await refusal(limit.reserve('a'))
  assert.equal([last.retryAfter, last.details[0]], [1, 'Try again in 1 second'])
  clock.now += 2
  ;(await limit.reserve('a')).withdraw()
})

test('failures older than the window do not count', async () => {
  const { limit, fail, clock } = await open()
  for (let count = 0; count < 4; count++) await fail('a', 'ada')
  clock.now += windowMs
  await fail('a', 'ada')
  assert.is((await limit.allowance('a')).left, 4)
})

test('an address counts anew in every process once a user who failed there is released', async () => {
  const { limit, other, fail } = await open()
  for (const address of ['a', 'b']) {
    await fail(address, 'ada')
    for (let count = 0; count < 4; count++) await fail(address, `other${count}`)
  }
  for (let count = 0; count < 5; count++) await fail('c', 'zoe')
  assert.is((await refusal(limit.reserve('a'))).code, 'rate_limited')
  await other.releaseUser('ada')
  assert.equal(await limit.allowance('a'), { most: 5, left: 5, resetSeconds: 900 })
  ;(await limit.reserve('b')).withdraw()
  assert.is((await refusal(other.reserve('c'))).code, 'rate_limited')
})

test('a success takes out that user’s failures and nobody else’s', async () => {
  const { limit, fail } = await open()
  // An attacker cannot reset the count by logging in to an account of their own.
  for (let count = 0; count < 4; count++) await fail('a', 'victim')
  for (let count = 0; count < 20; count++) await (await limit.reserve('a')).succeed('own')
  assert.is((await limit.allowance('a')).left, 1)
  await fail('a', 'victim')
  assert.is((await refusal(limit.reserve('a'))).code, 'rate_limited')
})

test('a success of the user who mistyped gives the attempts back', async () => {
  const { limit, fail } = await open()
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 4; count++) await fail('a', 'ada')
    await (await limit.reserve('a')).succeed('ada')
    assert.is((await limit.allowance('a')).left, 5)
  }
})

test('a hundred right ones at once all pass', async () => {
  const { limit } = await open()
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const attempt = await limit.reserve('a')
      await new Promise((resolve) => setImmediate(resolve))
      await attempt.succeed(`user${index}`)
    }),
  )
  assert.is((await limit.allowance('a')).left, 5)
})

test('what was not judged does not count', async () => {
  const { limit } = await open()
  for (let count = 0; count < 50; count++) (await limit.reserve('a')).withdraw()
  assert.is((await limit.allowance('a')).left, 5)
})

test('a login without failures before it writes nothing', async () => {
  const { limit, writes } = await open()
  const before = writes()
  await (await limit.reserve('a')).succeed('ada')
  assert.is(writes(), before)
})

test('a flood of fresh addresses pushes out none that is refused, and is bounded', async () => {
  const { limit, fail, db } = await open()
  for (let count = 0; count < 5; count++) await fail('blocked', 'ada')
  await fail('early', 'x')
  db.exec(`WITH RECURSIVE flood (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM flood WHERE n < 60000)
    INSERT INTO login_failure (subject, user, boot, at) SELECT 'login flood' || n, 'x', boot, at FROM flood, login_failure WHERE id = 1`)
  await fail('late', 'x')
  assert.is(db.prepare('SELECT count(*) FROM login_failure').pluck().get(), 50_000)
  assert.is((await refusal(limit.reserve('blocked'))).code, 'rate_limited')
  assert.is((await limit.allowance('early')).left, 5, 'the oldest of the flood is forgotten')
  assert.is((await limit.allowance('late')).left, 4)
})

test('what was counted before the machine was started anew does not count, and no name is kept readable', async () => {
  const { limit, fail, db } = await open()
  for (let count = 0; count < 4; count++) await fail('a', 'Passw0rd-in-the-wrong-field')
  assert.not.match(JSON.stringify(db.prepare('SELECT * FROM login_failure').all()), 'wrong-field')
  for (let count = 0; count < 5; count++) await fail('b', 'ada')
  db.exec(`UPDATE login_failure SET boot = 'before'; UPDATE login_refusal SET boot = 'before'`)
  assert.is((await limit.allowance('a')).left, 5)
  await limit.check('b')
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

/** Two limiters of two processes, as far as the database is concerned; a third connection looks into its tables. */
async function open() {
  const path = join(mkdtempSync(join(folder, 'one-')), 'aichat.db')
  const clock = { now: 1_000_000 }
  const rule = { most: 5 }
  const db = await openDatabase(path)
  const limitOfProcess = async () => {
    const connection = await openDatabase(path)
    connections.push(connection)
    const driver = driverOf(connection)
    const store = createLoginFailureStore(driver, { now: () => clock.now, boot: 'this start' })
    return createLoginLimit({ store, kind: 'login', what: 'Too many failed login attempts', most: () => rule.most })
  }
  connections.push(db)
  const limit = await limitOfProcess()
  return {
    clock,
    rule,
    db,
    limit,
    other: await limitOfProcess(),
    /** Differs after a write of one of the two. */
    writes: () => db.pragma('data_version', { simple: true }),
    fail: async (address: string, user: string) => (await limit.reserve(address)).fail(user),
  }
}

async function refusal(attempt: Promise<unknown>): Promise<AppError> {
  const reason = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.instance(reason, AppError)
  return reason as AppError
}
