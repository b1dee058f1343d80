import * as assert from 'uvu/assert'
import type { ColumnType, Value } from '../../../src/storage/schema/table.ts'
import { copyHeader, copyTrailer, createRowReader, createRowWriter } from '../../../src/storage/transfer/copy-format.ts'
import { bodyOf } from '../../../src/storage/transfer/postgres-rows.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('rows in the format of COPY')

const types: readonly ColumnType[] = ['text', 'int2', 'int4', 'int8', 'float8', 'bool', 'bytea', 'varbit', 'vector']

const bytes = fc.uint8Array({ maxLength: 40 }).map((given) => Buffer.from(given))

const row = fc.tuple(
  fc.option(fc.string({ unit: 'binary' })),
  fc.option(fc.integer({ min: -32768, max: 32767 })),
  fc.option(fc.integer()),
  fc.option(fc.maxSafeInteger()),
  fc.option(fc.double()),
  fc.option(fc.constantFrom(0, 1)),
  fc.option(bytes),
  fc.option(bytes),
  fc.option(
    fc.array(fc.float({ noNaN: true }), { maxLength: 9 }).map((list) => Buffer.from(Float32Array.from(list).buffer)),
  ),
)

test('rows are read as they were written, wherever their bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 6 }), (rows, cuts) => {
      const writer = createRowWriter(types)
      for (const each of rows) writer.row(each)
      const whole = Buffer.concat([copyHeader, writer.take(), copyTrailer])
      const reader = createRowReader(types)
      const read: Value[][] = []
      let from = 0
      for (const to of [...cuts.sort((one, other) => one - other), whole.length]) {
        read.push(...reader.read(whole.subarray(from, Math.max(from, to))))
        from = Math.max(from, to)
      }
      reader.end()
      assert.equal(read, rows)
    }),
  )
})

test('what is between the header and the end of a copy is the same, wherever its bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(80), { maxLength: 8 }), async (body, cuts) => {
      const whole = Buffer.concat([copyHeader, body, copyTrailer])
      async function* chunks(): AsyncGenerator<Uint8Array> {
        let from = 0
        for (const to of [...cuts.sort((one, other) => one - other), whole.length]) {
          yield whole.subarray(from, Math.max(from, to))
          from = Math.max(from, to)
        }
      }
      const pieces: Uint8Array[] = []
      for await (const piece of bodyOf(chunks())) pieces.push(piece)
      assert.equal(Buffer.concat(pieces), Buffer.from(body))
    }),
  )
})

test('rows that break off, of another form or with another number of columns are refused', () => {
  const writer = createRowWriter(['int4'])
  writer.row([1])
  const rows = writer.take()
  const broken = createRowReader(['int4'])
  broken.read(Buffer.concat([copyHeader, rows]))
  assert.throws(() => broken.end(), /break off/)
  assert.throws(() => createRowReader(['int4']).read(Buffer.alloc(40)), /another format/)
  assert.throws(
    () => createRowReader(['int4', 'text']).read(Buffer.concat([copyHeader, rows])),
    /1 columns in place of 2/,
  )
})

test('U+0000, which no server keeps, is escaped, and so is the escape', () => {
  const writer = createRowWriter(['text'])
  for (const text of ['a\0b', '\ufdd0', '\ufdd00\0', '\0'.repeat(3)]) writer.row([text])
  const rows = Buffer.concat([copyHeader, writer.take()])
  assert.not.ok(rows.subarray(copyHeader.length + 6, copyHeader.length + 11).includes(0))
  assert.equal(createRowReader(['text']).read(rows), [['a\0b'], ['\ufdd0'], ['\ufdd00\0'], ['\0\0\0']])
})

test.run()
