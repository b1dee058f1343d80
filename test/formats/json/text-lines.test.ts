import * as assert from 'uvu/assert'
import { textLines } from '../../../src/formats/json/spans.ts'
import { suite } from '../../helpers/suite.ts'

const chunked = suite('a text that arrives in chunks')

/** A text cut into pieces of one length. */
function* pieces(text: string, length: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

chunked('lines come without their ends, the last one without an end too', () => {
  const lines = (text: string, length: number) =>
    [...textLines(pieces(text, length), 5)].map((line) => line?.toString())
  for (const length of [1, 2, 4, 100]) {
    assert.equal(lines('a\nbc\n\nd', length), ['a', 'bc', '', 'd'])
    assert.equal(lines('a\n', length), ['a'])
    assert.equal(lines('a\ntoolong\nb\n', length), ['a', undefined, 'b'])
    assert.equal(lines('', length), [])
  }
})

chunked.run()
