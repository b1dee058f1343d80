import { setFlagsFromString } from 'node:v8'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { startThread } from '../../src/process/thread.ts'
import { suite } from '../helpers/suite.ts'
import type { SampleWork } from './thread-step.ts'

const test = suite('a thread that is waited for')

function start(items: number, { fails = false, fillsMemory = false } = {}) {
  const handed = new Int32Array(new SharedArrayBuffer(4))
  const thread = startThread<{ readonly at: number; readonly bytes: Uint8Array }>(
    { beside: import.meta.url, name: './thread-step' },
    { items, fails, fillsMemory, handed } satisfies SampleWork,
  )
  return { thread, handed: () => Atomics.load(handed, 0) }
}

test('its items come in their order, with the buffers that were moved, and undefined is behind the last one', () => {
  const { thread } = start(300)
  const read: number[][] = []
  for (let item = thread.next(); item; item = thread.next()) read.push([item.at, ...item.bytes])
  thread.stop()
  assert.equal(
    read,
    Array.from({ length: 300 }, (_, at) => [at, at % 256]),
  )
})

test('it waits where too many items wait for their user', () => {
  const { thread, handed } = start(1000)
  for (let read = 1; thread.next() !== undefined; read++) assert.ok(handed() <= read + 25, `${handed()} of ${read}`)
  thread.stop()
})

test('the error of its work follows the items before it', () => {
  const { thread } = start(2, { fails: true })
  assert.equal([thread.next()?.at, thread.next()?.at], [0, 1])
  try {
    thread.next()
    assert.unreachable('it did not fail')
  } catch (reason) {
    assert.instance(reason, AppError)
    const { code, message, details } = reason as AppError
    assert.equal([code, message, details], ['too_large', 'The package is too large', ['split it']])
  }
  thread.stop()
})

test('one that runs out of memory fails behind its items, long before its silence would', () => {
  // MiB of the threads that start now; this one has its limit already.
  setFlagsFromString('--max-old-space-size=24')
  try {
    const { thread } = start(2, { fillsMemory: true })
    assert.equal([thread.next()?.at, thread.next()?.at], [0, 1])
    assert.throws(
      () => thread.next(),
      (reason: AppError) => reason.code === 'internal' && /thread-step ended early/.test(reason.message),
    )
    thread.stop()
  } finally {
    setFlagsFromString('--max-old-space-size=0')
  }
})

test('it is stopped while it waits, and once more', () => {
  const { thread } = start(1_000_000)
  assert.is(thread.next()?.at, 0)
  thread.stop()
  thread.stop()
})

test.run()
