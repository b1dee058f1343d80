import * as assert from 'uvu/assert'
import { type Field, readMessage, writeMessage } from '../../src/inference/protobuf.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('protocol buffers')

const number = fc.integer({ min: 1, max: 5000 })
const field = fc.oneof(
  fc.record({ field: number, varint: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
  fc.record({ field: number, text: fc.string({ unit: 'grapheme' }) }),
  fc.record({ field: number, bytes: fc.uint8Array({ maxLength: 300 }) }),
)

test('a written message is read again', () => {
  fc.assert(
    fc.property(fc.array(field), (fields) => {
      const read = readMessage(writeMessage(fields), 'test')
      assert.equal(
        read.map(({ field, value }) => [field, typeof value === 'bigint' ? value : Buffer.from(value).toString('hex')]),
        fields.map((entry) => [
          entry.field,
          'varint' in entry ? entry.varint : Buffer.from('text' in entry ? entry.text : entry.bytes).toString('hex'),
        ]),
      )
    }),
  )
})

test('negative numbers take ten bytes, floats four', () => {
  const [negative, float] = readMessage(
    writeMessage([
      { field: 1, varint: -1 },
      { field: 2, float: 0.5 },
    ]),
    'test',
  )
  assert.is(negative?.value, 2n ** 64n - 1n)
  assert.equal(Buffer.from(float?.value as Uint8Array), Buffer.from([0, 0, 0, 0x3f]))
})

test('a message within a message and packed numbers are fields of bytes', () => {
  const fields: Field[] = [{ field: 3, message: [{ field: 1, packed: [1, 300] }] }]
  assert.equal(Buffer.from(writeMessage(fields)), Buffer.from([0x1a, 5, 0x0a, 3, 1, 0xac, 2]))
})

test('bytes that are no message are refused by the name of their source', () => {
  for (const bytes of [[0x0a, 5, 1], [0x80], [0x0b], [0x09, 1, 2], [...Array(11).fill(0xff)]])
    assert.throws(() => readMessage(Uint8Array.from(bytes), 'the.model'), /the\.model is damaged/)
})

test('no bytes ever do worse than being refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        for (const { value } of readMessage(bytes, 'any')) assert.ok(typeof value === 'bigint' || value.length <= 200)
      } catch (thrown) {
        assert.is((thrown as Error).name, 'AppError')
      }
    }),
  )
})

test.run()
