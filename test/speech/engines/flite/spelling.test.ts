import * as assert from 'uvu/assert'
import { spellPlainly } from '../../../../speech/engines/flite/spelling.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('English as flite reads it')

const tables: Readonly<Record<string, readonly (readonly [written: string, read: string])[]>> = {
  'addresses are said with their dots and slashes': [
    [
      'Visit https://www.example.org/a-b, or me@example.com.',
      'Visit example dot org slash a dash b, or me at example dot com.',
    ],
    ['Node.js v2.0.1', 'Node dot js version 2 point 0 point 1'],
    ['in the U.S. at 5 p.m. sharp', 'in the U.S. at 5 p.m. sharp'],
  ],
  'dates, ranges and units': [
    ['2024-05-17, Jan. 5, 10–20', 'May 17, 2024, January 5, 10 to 20'],
    ['5 km/h, 1 kg, 3.5 m, 10GB', '5 kilometers per hour, 1 kilogram, 3.5 meters, 10 gigabytes'],
    ['20 °C, 5°F, 30°', '20 degrees Celsius, 5 degrees Fahrenheit, 30 degrees'],
  ],
  'money and signs': [
    ['$5m, €3.5 million, £20, 50¢, 10%', '5 million dollars, 3.5 million euros, 20 pounds, 50 cents, 10 percent'],
    ['x² + 10⁻³ ≤ π', 'x squared plus 10 to the power of minus 3 is at most pi'],
    ['2½ cups → ½', '2 and one half cups to one half'],
    ['#1, #tag, C#, a & b', 'number 1, hash tag, C sharp, a and b'],
  ],
  abbreviations: [
    ['e.g. this vs. that, etc. No. 5, p. 3', 'for example, this versus that, et cetera number 5, page 3'],
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
