import * as assert from 'uvu/assert'
import { createTextStream } from '../../src/runners/text-stream.ts'
import { pluck } from '../helpers/pluck.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('text from tokens')

/** Tokens that are bytes: a character outside ASCII is several of them. */
const decode = (ids: readonly number[]) => Buffer.from(ids).toString('utf8')

function run(bytes: Uint8Array, stops: readonly string[]): { text: string; pieces: string[] } {
  const stream = createTextStream(decode, stops)
  const pieces: string[] = []
  for (const byte of bytes) {
    const { text, stopped } = stream.push(byte)
    if (text !== '') pieces.push(text)
    if (stopped) return { text: pieces.join(''), pieces }
  }
  pieces.push(stream.end())
  return { text: pieces.join(''), pieces }
}

test('every text comes whole, and never in broken characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const { text: got, pieces } = run(Buffer.from(text), [])
      assert.is(got, text)
      if (!text.includes('\ufffd')) for (const piece of pieces) assert.not.match(piece, '\ufffd')
    }),
  )
})

test('a text ends before the first stop text, wherever tokens are cut', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[abc]{0,30}$/),
      fc.array(fc.stringMatching(/^[abc]{1,4}$/), { maxLength: 3 }),
      (text, stops) => {
        const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
        const ends = stops.flatMap((stop) => (text.includes(stop) ? [text.indexOf(stop) + stop.length] : []))
        const { text: got } = run(Buffer.from(text), stops)
        if (places.length === 0) return assert.is(got, text)
        // The stop text that is complete first ends the answer.
        const first = Math.min(...ends)
        const cut = Math.min(
          ...stops.filter((stop) => text.slice(0, first).endsWith(stop)).map((stop) => first - stop.length),
        )
        assert.is(got, text.slice(0, cut))
      },
    ),
  )
})

test('text is given as soon as it cannot be a stop text any more', () => {
  const stream = createTextStream(decode, ['END'])
  const pieces = [...Buffer.from('aENxEND')].map((byte) => stream.push(byte))
  assert.equal(pluck(pieces, 'text'), ['a', '', '', 'ENx', '', '', ''])
  assert.ok(pieces.at(-1)!.stopped)
})

test('bytes that never become a character are not waited for', () => {
  const stream = createTextStream(decode, [])
  const pieces = Array.from({ length: 12 }, () => stream.push(0x80).text)
  assert.ok(pieces.join('').length > 0)
})

test.run()
