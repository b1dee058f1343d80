import * as assert from 'uvu/assert'
import { DialectError } from '../../../src/chat/protocol/dialect.ts'
import { createJsonReader } from '../../../src/chat/protocol/json-stream.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('reading a stream of JSON values')

const values = [{ a: ']}"\\' }, { b: [{ c: '世界' }, []] }, {}]
const texts = values.map((value) => JSON.stringify(value))

for (const [name, text] of [
  ['one array', `[${texts.join(',\n')}]`],
  ['values after each other', texts.join('\n')],
  ['values in an array with spaces', `\n [ ${texts.join(' , ')} ] \n`],
] as const)
  test(`the values of ${name} come one by one, cut at any byte`, () => {
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++) {
      const reader = createJsonReader()
      const read = [...reader.push(bytes.subarray(0, at)), ...reader.push(bytes.subarray(at))]
      assert.equal(
        read.map((value) => JSON.parse(value)),
        values,
      )
      assert.not(reader.open)
    }
  })

test('a value that has not ended is open, and so is its array', () => {
  const reader = createJsonReader()
  reader.push(Buffer.from('['))
  assert.ok(reader.open)
  reader.push(Buffer.from('{"a":"}'))
  assert.ok(reader.open)
  assert.equal(reader.push(Buffer.from('"}')), ['{"a":"}"}'])
  assert.ok(reader.open)
  reader.push(Buffer.from(']'))
  assert.not(reader.open)
})

test('a value over the limit is an error', () => {
  const reader = createJsonReader(10)
  assert.throws(
    () => reader.push(Buffer.from('{"a":"0123456789')),
    (error: unknown) => error instanceof DialectError && error.kind === 'broken',
  )
})

test.run()
