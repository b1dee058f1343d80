import * as assert from 'uvu/assert'
import { DialectError } from '../../../src/chat/protocol/dialect.ts'
import { createEventReader, lineLimit, type ServerEvent } from '../../../src/chat/protocol/sse.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('reading server-sent events')

function events(...pieces: readonly (string | Uint8Array)[]): ServerEvent[] {
  const reader = createEventReader()
  const read = pieces.flatMap((piece) => reader.push(Buffer.from(piece)))
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

test('a line of the limit is read, a longer one is an error', () => {
  const line = (characters: number) => Buffer.from(`data: ${'x'.repeat(characters)}`)
  const end = Buffer.from('\n\n')
  const longest = createEventReader()
  longest.push(line(lineLimit - 'data: '.length))
  assert.is(longest.push(end)[0]?.data.length, lineLimit - 'data: '.length)
  assert.throws(() => createEventReader().push(line(lineLimit + 1)), isBroken)
  assert.throws(() => createEventReader().push(Buffer.concat([line(lineLimit + 1), end])), isBroken)
})

test('an event of many lines is bounded like one line', () => {
  const reader = createEventReader()
  const line = Buffer.from(`data: ${'x'.repeat(100_000)}\n`)
  assert.throws(() => {
    for (let count = 0; count < 12; count++) reader.push(line)
  }, isBroken)
})

function isBroken(error: unknown): boolean {
  return error instanceof DialectError && error.kind === 'broken'
}

test.run()
