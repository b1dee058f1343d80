import * as assert from 'uvu/assert'
import { oncePerTurn } from '../../src/process/turn.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a function that is called once in a turn of the event loop')

test('its value holds to the end of the turn, also in promises, and no longer', async () => {
  let calls = 0
  const count = oncePerTurn(() => ++calls)
  assert.equal([count(), count()], [1, 1])
  await Promise.resolve()
  assert.is(count(), 1)
  await new Promise(setImmediate)
  assert.equal([count(), count()], [2, 2])
})

test('in a long turn it is called anew now and then', () => {
  let calls = 0
  const count = oncePerTurn(() => ++calls)
  for (let use = 0; use < 1000; use++) count()
  assert.ok(calls > 10 && calls < 100, String(calls))
})

test('a failure is thrown each time, and is no value', () => {
  const fail = oncePerTurn(() => {
    throw new Error('away')
  })
  assert.throws(fail, 'away')
  assert.throws(fail, 'away')
})

test.run()
