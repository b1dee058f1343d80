import * as assert from 'uvu/assert'
import { shortDouble } from '../../../src/personas/package/json-writer.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const numbers = suite('numbers of embeddings in packages')

/** Any float's bits, NaN and the infinities left out. */
const float = fc.float({ noNaN: true, noDefaultInfinity: true })

numbers('finds at most nine digits that give back the same 32-bit float', () => {
  void fc.assert(
    fc.property(float, (value) => {
      const short = shortDouble(value)
      assert.ok(Object.is(Math.fround(short), value === 0 ? 0 : value), `${value}`)
      assert.ok(
        String(Math.abs(short))
          .replace(/e.*$/, '')
          .replace('.', '')
          .replace(/^0+|0+$/g, '').length <= 9,
      )
    }),
    { numRuns: 5000 },
  )
})

numbers('keeps numbers written with six digits, and gives the shortest text otherwise', () => {
  const decimal = fc
    .tuple(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: 0, max: 12 }))
    .map(([n, k]) => Number(`${n}e-${k}`))
  void fc.assert(
    fc.property(decimal, (value) => {
      assert.is(shortDouble(Math.fround(value)), value === 0 ? 0 : value)
    }),
    { numRuns: 5000 },
  )
  // As numpy prints them.
  for (const value of [0.12345678, 0.1234567, 1.2345678, 16777216, 0.33333334, -0.007297353])
    assert.is(shortDouble(Math.fround(value)), value)
})

numbers.run()
