import * as assert from 'uvu/assert'
import { Histogram, secondBounds } from '../../src/metrics/histogram.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a histogram')

test('counts a value at the first bound that holds it, and at the end those beyond all', () => {
  const histogram = new Histogram(secondBounds)
  for (const value of [0, 0.005, 0.006, 2, 2.5, 10, 10.5, 60, 60.5, 300, 301]) histogram.add(value)
  assert.equal(histogram.counts, [2, 1, 0, 0, 1, 2, 2, 2, 1])
  assert.equal([histogram.count, histogram.sum.toFixed(3)], [11, '746.511'])
})

test.run()
