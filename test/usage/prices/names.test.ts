import * as assert from 'uvu/assert'
import { patternOf } from '../../../src/plugins/model-names.ts'
import { rateOf, rateText } from '../../../src/usage/prices/rate-text.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('names of models and rates as texts')

test('a pattern matches as the regular expression of the same meaning', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-', '1', '2', '.'), maxLength: 12 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '-', '1', '.', '*', '#'), minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(patterns, letters, (pattern, name) => {
      const source = [...pattern].map((each) =>
        each === '*' ? '.*' : each === '#' ? '\\d' : `\\${each}`.replace(/\\([ab1])/, '$1'),
      )
      const expected = new RegExp(`^${source.join('')}$`).test(name)
      assert.is(patternOf(pattern).matches(name), expected, `${pattern} ${name}`)
    }),
  )
})

test('a name that a caller chose costs no more than its length squared', () => {
  const name = 'a'.repeat(200)
  const pattern = patternOf(`${'*a'.repeat(99)}*b`)
  let matched = 0
  for (let round = 0; round < 2000; round++) if (pattern.matches(name)) matched++
  assert.is(matched, 0)
})

test('a rate is read as it was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (rate) => {
      assert.is(rateOf(rateText(rate)), rate)
    }),
  )
  for (const [text, rate] of [
    ['1', 1_000_000],
    ['1000000', 1e12],
    ['1000000.000001', undefined],
    ['0.0000001', undefined],
    ['.5', undefined],
  ] as const)
    assert.is(rateOf(text), rate, text)
  assert.equal([rateText(0), rateText(1), rateText(2_500_000), rateText(10_000_000)], ['0', '0.000001', '2.5', '10'])
})

test('what is no rate is refused', () => {
  for (const text of [
    '',
    '-1',
    'NaN',
    '1e300',
    '1e3',
    'Infinity',
    '1000000.000001',
    '0.0000001',
    '.5',
    '5.',
    ' 1',
    '1,5',
    '0x10',
  ])
    assert.is(rateOf(text), undefined, text)
})

test.run()
