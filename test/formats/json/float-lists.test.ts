import * as assert from 'uvu/assert'
import { findList, readCanonicalFloats } from '../../../src/formats/json/number-lists.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const floats = suite('canonical floats')

function read(list: string, most = 1000): Float32Array | undefined {
  return readCanonicalFloats(Buffer.from(list), { open: 0, close: list.length - 1 }, most)
}

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: -1, max: 1 }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc
    .tuple(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), fc.integer({ min: 0, max: 20 }))
    .map(([n, k]) => n / 10 ** k),
  fc.maxSafeInteger(),
)

floats('reads a list as JSON.parse and a rounding to 32 bits do, where its text is canonical', () => {
  void fc.assert(
    fc.property(fc.array(number, { minLength: 1 }), (values) => {
      const expected = Float32Array.from(values.map((value) => (value === 0 ? 0 : value)))
      const found = read(JSON.stringify(values))
      if (expected.every(Number.isFinite)) assert.equal(found, expected)
      else assert.is(found, undefined)
    }),
    { numRuns: 5000 },
  )
})

floats('reads a text of digits, signs and points only where it is the canonical text of a list', () => {
  const text = fc.array(fc.constantFrom(...'0123456789-+.e, '), { maxLength: 12 }).map((list) => `[${list.join('')}]`)
  void fc.assert(
    fc.property(text, (list) => {
      let canonical: string | undefined
      try {
        canonical = JSON.stringify(JSON.parse(list))
      } catch {}
      if (read(list) !== undefined) assert.is(canonical, list)
    }),
    { numRuns: 20_000 },
  )
})

floats('leaves any other list to a whole parser', () => {
  const others = [
    '[]',
    '[1,]',
    '[,1]',
    '[01]',
    '[1.0]',
    '[-0]',
    '[.5]',
    '[5.]',
    '[1 ,2]',
    '[1,2',
    '[1e2]',
    '[0.0000001]',
  ]
  for (const list of [
    ...others,
    '[Infinity]',
    '[NaN]',
    '[0x10]',
    '[1e39]',
    '[null]',
    '["1"]',
    '[[1]]',
    '[+1]',
    '[1,,2]',
  ])
    assert.is(read(list), undefined, list)
  assert.is(read('[1,2,3]', 2), undefined)
  assert.equal(read('[1,2]', 2), Float32Array.of(1, 2))
})

floats('finds the list of a key of the object itself', () => {
  const find = (text: string) => {
    const place = findList(Buffer.from(text), 'embedding')
    return place && text.slice(place.open, place.close + 1)
  }
  assert.is(find('{"content":"say \\"embedding\\":[7]","embedding":[1,2],"id":"a"}'), '[1,2]')
  assert.is(find('{"a":{"embedding":[7]},"b":[{"embedding":[8]}],"embedding":[1]}'), '[1]')
  for (const text of [
    '{"a":{"embedding":[7]}}',
    '{"embedding": [1]}',
    '{"x\\"embedding":[1]}',
    '["embedding":[1]]',
    '{"embedding":[1',
  ])
    assert.is(find(text), undefined, text)
})

floats.run()
