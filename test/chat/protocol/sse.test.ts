import * as assert from 'uvu/assert'
import { DialectError } from '../../../src/chat/protocol/dialect.ts'
import { createEventReader, createLineReader, lineLimit, type ServerEvent } from '../../../src/chat/protocol/sse.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('reading server-sent events')

function events(...pieces: readonly (string | Uint8Array)[]): ServerEvent[] {
  const reader = createEventReader()
  const read = pieces.flatMap((piece) => reader.push(Buffer.from(piece)))
  return [...read, ...reader.end()]
}

function lines(pieces: readonly Uint8Array[]): string[] {
  const reader = createLineReader()
  const read = pieces.flatMap((piece) => reader.push(piece))
  return [...read, ...reader.end()]
}

const scenarios: readonly { name: string; text: string; events: readonly ServerEvent[] }[] = [
  { name: 'an event ends at a blank line', text: 'data: a\n\ndata: b\n\n', events: [data('a'), data('b')] },
  { name: 'lines end at CRLF', text: 'data: a\r\n\r\ndata: b\r\n\r\n', events: [data('a'), data('b')] },
  { name: 'lines end at CR', text: 'data: a\r\rdata: b\r\r', events: [data('a'), data('b')] },
  {
    name: 'line ends may be mixed',
    text: 'data: a\r\n\ndata: b\r\n\rdata: c\n\n',
    events: [data('a'), data('b'), data('c')],
  },
  { name: 'several data lines are one text', text: 'data: a\ndata:b\ndata\n\n', events: [data('a\nb\n')] },
  { name: 'one space after the colon is left out, and no more', text: 'data:  a\n\n', events: [data(' a')] },
  {
    name: 'the name of an event comes with it',
    text: 'event: error\ndata: a\n\n',
    events: [{ event: 'error', data: 'a' }],
  },
  { name: 'a name does not outlive its event', text: 'event: x\n\ndata: a\n\n', events: [data('a')] },
  {
    name: 'comments and other fields are skipped',
    text: ': hello\nid: 1\nretry: 5\ndatabase: no\ndata: a\n\n',
    events: [data('a')],
  },
  { name: 'blank lines first make no event', text: '\n\n\r\n\ndata: a\n\n', events: [data('a')] },
  { name: 'the last blank line may be missing', text: 'data: a\n\ndata: b', events: [data('a'), data('b')] },
  { name: 'a byte order mark is skipped', text: '\uFEFFdata: a\n\n', events: [data('a')] },
  { name: 'an empty body holds no event', text: '', events: [] },
]

function data(text: string): ServerEvent {
  return { event: '', data: text }
}

for (const { name, text, events: expected } of scenarios) {
  test(name, () => assert.equal(events(text), expected))
  test(`${name}, cut at every byte`, () => {
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++)
      assert.equal(events(bytes.subarray(0, at), bytes.subarray(at)), expected, `at ${at}`)
    assert.equal(events(...Array.from(bytes, (byte) => Uint8Array.of(byte))), expected, 'byte by byte')
  })
}

test('a character split between two pieces is whole', () => {
  const bytes = Buffer.from('data: Grüße 世界 🌍\n\n')
  for (let at = 0; at < bytes.length; at++)
    assert.equal(events(bytes.subarray(0, at), bytes.subarray(at)), [data('Grüße 世界 🌍')])
})

test('a buffer may be used again after it was pushed', () => {
  const reader = createEventReader()
  const buffer = Buffer.from('data: ab')
  reader.push(buffer)
  buffer.fill(0)
  assert.equal(reader.push(Buffer.from('c\n\n')), [data('abc')])
})

test('a line of the limit is read, one byte more is an error', () => {
  const line = (bytes: number) => Buffer.alloc(bytes, 'x')
  const longest = createLineReader()
  longest.push(line(lineLimit))
  assert.is(longest.push(Buffer.from('\n'))[0]?.length, lineLimit)
  assert.throws(() => createLineReader().push(line(lineLimit + 1)), isBroken)
  assert.throws(() => createLineReader().push(Buffer.concat([line(lineLimit + 1), Buffer.from('\n')])), isBroken)
})

test('an event of many lines is bounded like one line', () => {
  const reader = createEventReader()
  const line = Buffer.from(`data: ${'x'.repeat(100_000)}\n`)
  assert.throws(() => {
    for (let count = 0; count < 12; count++) reader.push(line)
  }, isBroken)
})

test('a long line that comes byte by byte is read whole', () => {
  const reader = createLineReader()
  for (let count = 0; count < 300_000; count++) reader.push(Uint8Array.of(120))
  assert.is(reader.end()[0]?.length, 300_000)
})

test('lines are those that a split at line ends gives, however the bytes are cut', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '🌍', '\n', '\r', '\r\n', ': ', 'data'), { maxLength: 40 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { maxLength: 6 }), (words, cuts) => {
      const bytes = Buffer.from(words.join(''))
      const expected = words.join('').split(/\r\n|\n|\r/)
      if (expected.at(-1) === '') expected.pop()
      assert.equal(lines(cutAt(bytes, cuts)), expected)
    }),
    { numRuns: 500 },
  )
})

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

function isBroken(error: unknown): boolean {
  return error instanceof DialectError && error.kind === 'broken'
}

test.run()
