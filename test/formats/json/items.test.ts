import * as assert from 'uvu/assert'
import { jsonItems, textLines } from '../../../src/formats/json/spans.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const items = suite('items of a JSON list that arrives in chunks')

function* pieces(text: string, length: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

function read(text: string, length = 3, most = 1000): unknown[] {
  return [...jsonItems(pieces(text, length), most)].map((item) => item && JSON.parse(item.toString()))
}

items('are the values of the list, wherever the chunks end', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), fc.integer({ min: 1, max: 9 }), (list, length) => {
      const same = JSON.parse(JSON.stringify(list))
      assert.equal(read(JSON.stringify(list), length, 1e6), same)
      assert.equal(read(`\ufeff ${JSON.stringify(list, null, 2)}\n`, length, 1e6), same)
    }),
  )
})

items('of more bytes than allowed are passed over, and the next one is read', () => {
  assert.equal(read(`[1,"${'x'.repeat(100)}",{"a":[2,3]}]`, 7, 20), [1, undefined, { a: [2, 3] }])
})

for (const [name, text, message] of [
  ['no list', '{"a":1}', /is no list/],
  ['nothing', '', /breaks off/],
  ['a list that breaks off', '[1,{"a":"]"', /breaks off/],
  ['a list that breaks off within a text', '[1,"]', /breaks off/],
  ['two lists', '[1][2]', /goes on after its end/],
  ['a list that ends like an object', '[1}', /a bracket too many/],
] as const)
  items(`come of no text that is ${name}`, () => {
    assert.throws(() => read(text), message)
  })

items('that are empty are left to their parser', () => {
  assert.equal(
    [...jsonItems(pieces('[1,]', 9), 10)].map((item) => item?.toString()),
    ['1', ''],
  )
})

items('lines come without their ends, the last one without an end too', () => {
  const lines = (text: string, length: number) =>
    [...textLines(pieces(text, length), 5)].map((line) => line?.toString())
  for (const length of [1, 2, 4, 100]) {
    assert.equal(lines('a\nbc\n\nd', length), ['a', 'bc', '', 'd'])
    assert.equal(lines('a\n', length), ['a'])
    assert.equal(lines('a\ntoolong\nb\n', length), ['a', undefined, 'b'])
    assert.equal(lines('', length), [])
  }
})

items.run()
