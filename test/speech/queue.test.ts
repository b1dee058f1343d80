import * as assert from 'uvu/assert'
import { createRequestQueue } from '../../speech/queue.ts'
import { newSpeechCount } from '../../speech/speech-counts.ts'
import type { AppError } from '../../src/errors.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the queue before an engine')

test('lets in as many as it may, counts the others, and one that leaves twice makes room for one', () => {
  const counts = newSpeechCount()
  const queue = createRequestQueue(2, counts)
  const leave = queue.enter()
  queue.enter()
  assert.throws(
    () => queue.enter(),
    ({ code, retryAfter }: AppError) => code === 'busy' && retryAfter === 2,
  )
  assert.equal([counts.inside, counts.refused], [2, 1])
  leave()
  leave()
  assert.is(counts.inside, 1)
  queue.enter()
  assert.throws(() => queue.enter(), /Too many/)
  assert.equal([counts.inside, counts.refused], [2, 2])
})

test('gives turns one after the other, first come, first served, and none to a caller that is gone', async () => {
  const counts = newSpeechCount()
  const queue = createRequestQueue(9, counts)
  const first = await queue.take()
  const order: string[] = []
  const second = queue.take().then((done) => {
    order.push('second')
    return done
  })
  const gone = new AbortController()
  const third = queue.take(gone.signal)
  assert.is(counts.waiting, 2)
  gone.abort(new Error('gone'))
  assert.is((await third.catch((reason) => reason)).message, 'gone')
  assert.equal(order, [])
  first()
  first()
  const leave = await second
  const fourth = queue.take()
  assert.is(counts.waiting, 1)
  leave()
  await fourth
  assert.equal([counts.waiting, counts.waits.count], [0, 3])
})

test.run()
