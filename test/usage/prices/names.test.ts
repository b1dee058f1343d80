import * as assert from 'uvu/assert'
import { patternOf } from '../../../src/plugins/model-names.ts'
import { rateOf, ratePerToken, rateText } from '../../../src/usage/prices/rate-text.ts'
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
  for (const [usd, rate] of [
    ['1', 1e12],
    ['1.000000000001', undefined],
    ['5e-13', 1],
    ['4e-13', undefined],
    ['0', 0],
    ['0e100', undefined],
    [0.5, 5e11],
    [-1, undefined],
    [null, undefined],
  ] as const)
    assert.is(ratePerToken(usd)?.rate, rate, String(usd))
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
  for (const usd of ['-1', 'NaN', '1e300', '', 'free', null, undefined, {}, -1, Number.NaN, '1.1', '0.0000000000001'])
    assert.is(ratePerToken(usd), undefined, String(usd))
})

test('USD per token are read exactly, in any notation, and what must be rounded says so', () => {
  assert.equal(ratePerToken('0.00000125'), { rate: 1_250_000, isExact: true })
  assert.equal(ratePerToken('1.25e-6'), { rate: 1_250_000, isExact: true })
  assert.equal(ratePerToken(0.00000125), { rate: 1_250_000, isExact: true })
  assert.equal(ratePerToken('0'), { rate: 0, isExact: true })
  assert.equal(ratePerToken('0.0000000833333333333'), { rate: 83_333, isExact: false })
  assert.equal(ratePerToken('0.0000000000005'), { rate: 1, isExact: false })
})

test.run()
