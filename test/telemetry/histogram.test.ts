import * as assert from 'uvu/assert'
import { Histogram } from '../../src/telemetry/histogram.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('histograms')

test('a value at a bound is counted by it, one above by the next, and one beyond all by none', () => {
  const histogram = new Histogram([1, 2])
  for (const value of [0, 1, 1.5, 2, 2.5, 3]) histogram.add(value)
  assert.equal(histogram.counts, [2, 2, 2])
  assert.equal([histogram.sum, histogram.count], [10, 6])
})

test.run()
