import * as assert from 'uvu/assert'
import { spellPlainly } from '../../../../speech/engines/flite/spelling.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('English as flite reads it')

const tables: Readonly<Record<string, readonly (readonly [written: string, read: string])[]>> = {
  'signs that no rule has written out': [
    ['10% of €, x ≤ π → ½, a & b', '10 percent of euros, x is at most pi to one half, a and b'],
    ['A I is here, an A B C', 'ay I is here, an ay B C'],
  ],
  'letters with marks': [['Café ß łódź Ærø naïve “quote”', 'Cafe ss lodz Aero naive "quote"']],
}
for (const [name, rows] of Object.entries(tables))
  test(name, () => {
    for (const [written, read] of rows) assert.is(spellPlainly(written), read)
  })

test('10,000 characters of its patterns are read at once', () => {
  for (const piece of ['1', '1.', '1 km ', 'a/', 'www.', 'a.b', '$1', 'x²', '½', 'e.g.', 'a@', '2024-'])
    assert.is(typeof spellPlainly(piece.repeat(10_000 / piece.length)), 'string')
})

test.run()
