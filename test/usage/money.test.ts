import * as assert from 'uvu/assert'
import { mostNano, nanoOfUsd } from '../../src/usage/money.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('amounts of money')

test('an amount is exact to the nano-USD, as a text and as a number', () => {
  assert.equal(['20', '20.50', '0.000000001', '0', '1000000'].map(nanoOfUsd), [20e9, 20.5e9, 1, 0, mostNano])
  assert.equal([20, 0.1, 0, 1e-9].map(nanoOfUsd), [20e9, 1e8, 0, 1])
})

test('what is no amount is none: negative, endless, too fine or too large', () => {
  const wrong = [-1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 1e-12, 1_000_001, -1e-12]
  for (const amount of wrong) assert.is(nanoOfUsd(amount), undefined, String(amount))
  for (const amount of ['-1', '1e3', '', '0.0000000001', '1000001', '1.', '0x10', 'NaN', '１'])
    assert.is(nanoOfUsd(amount), undefined, amount)
})

test.run()
