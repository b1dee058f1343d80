import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { createPerUserLimit, createWorkQueue } from '../../src/process/queue.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('queues of work')
const full = (waiting: number) => new Error(`${waiting} are waiting`)

test('so many run at the same time, the others follow in their order', async () => {
  const queue = createWorkQueue({ running: 2, waiting: 10, full })
  const order: number[] = []
  let running = 0
  await Promise.all(
    [1, 2, 3, 4, 5].map(async (number) => {
      const leave = await queue.enter()
      assert.ok(++running <= 2)
      order.push(number)
      await new Promise(setImmediate)
      running--
      leave()
    }),
  )
  assert.equal(order, [1, 2, 3, 4, 5])
})

test('a full queue refuses with its own error and takes calls again later', async () => {
  const queue = createWorkQueue({ running: 1, waiting: 1, full })
  const leave = await queue.enter()
  const next = queue.enter()
  assert.is(await messageOf(queue.enter()), '1 are waiting')
  leave()
  ;(await next)()
  ;(await queue.enter())()
})

test('a place is handed over: a newcomer does not take it before one that waits', async () => {
  const queue = createWorkQueue({ running: 1, waiting: 2, full })
  const order: string[] = []
  const leave = await queue.enter()
  const waiting = queue.enter().then((done) => {
    order.push('waiting')
    done()
  })
  leave()
  const newcomer = queue.enter().then((done) => {
    order.push('newcomer')
    done()
  })
  await Promise.all([waiting, newcomer])
  assert.equal(order, ['waiting', 'newcomer'])
})

test('newcomers at every turn of a place starve none that waits: without a bound all are served in their order', async () => {
  const queue = createWorkQueue({ running: 1 })
  const order: number[] = []
  const visit = async (number: number): Promise<void> => {
    const leave = await queue.enter()
    order.push(number)
    leave()
    // Comes in the very turn in which the place is left.
    if (number < 200) await visit(number + 100)
  }
  await Promise.all(Array.from({ length: 100 }, (_, number) => visit(number)))
  assert.equal(
    order,
    Array.from({ length: 300 }, (_, number) => number),
  )
})

test('an abort in the line gives the place in it back', async () => {
  const queue = createWorkQueue({ running: 1, waiting: 1, full })
  const leave = await queue.enter()
  const controller = new AbortController()
  const leaving = messageOf(queue.enter(controller.signal))
  controller.abort(new Error('left'))
  assert.is(await leaving, 'left')
  assert.is(await messageOf(queue.enter(AbortSignal.abort(new Error('too early')))), 'too early')
  const next = queue.enter()
  leave()
  ;(await next)()
})

test('each user has so many things under way, and gives a place back once', () => {
  const limit = createPerUserLimit(() => 1)
  const done = limit.take('ada')
  assert.throws(
    () => limit.take('ada'),
    (thrown: AppError) => thrown.code === 'rate_limited' && thrown.retryAfter === 5,
  )
  limit.take('bob')
  done()
  const again = limit.take('ada')
  done()
  assert.throws(() => limit.take('ada'), /At most 1 of your packages/)
  again()
  limit.take('ada')
})

function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing was thrown',
    (thrown: Error) => thrown.message,
  )
}

test.run()
