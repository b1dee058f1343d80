// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { bytesAtOnce, joinInTurns } from '../../../src/formats/join-bytes.ts'
import { parseMetered } from '../../../src/formats/json/json.ts'
import { createJsonMeter, longText, requestBounds } from '../../../src/formats/json/meter.ts'
import { parseInTurns } from '../../../src/formats/json/turns.ts'
import type { HeavyWork } from '../../../src/process/heavy-turns.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('JSON parsed in turns')
const MiB = 1024 * 1024

/** Texts around the length from which they are parsed apart, among them some that look like their placeholders. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .tuple(
      fc.string({ unit: fc.constantFrom('x', '0', '"', '\\', '\n', '\u0000', 'é', '漢', '\u{1f600}', '\ud800') }),
      fc.integer({ min: longText - 4, max: longText + 4 }),
    )
    .map(([text, length]) => text.padStart(length, '0')),
)
const values = fc.letrec((tie) => ({
  value: fc.oneof(texts, fc.double(), fc.constantFrom(null, true, false), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(
    texts.filter((name) => !['__proto__', 'constructor'].includes(name)),
    tie('value'),
    { maxKeys: 4 },
  ),
})).value

test('its value is that of JSON.parse, wherever the pieces are cut', () =>
  fc.assert(
    fc.asyncProperty(values, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), async (value, cuts) => {
      for (const text of [JSON.stringify(value), JSON.stringify({ a: value, b: 'é'.repeat(longText) }, null, 1)])
        assert.equal(await parsed(text, cuts), JSON.parse(text))
    }),
    { numRuns: 300 },
  ))

test('of a name that is there twice the last field stays, in the place of the first, as JSON.parse has it', async () => {
  const long = 'x'.repeat(longText)
  for (const text of [
    `{"a":"${long}1","2":"${long}2","a":"${long}3","1":"${long}4","a":"short"}`,
    `{"a":"short","b":0,"a":"${long}"}`,
    `"${long}"`,
    `{"${long}":"${long}","${long}y":{"${long}":1}}`,
  ])
    assert.is(JSON.stringify(await parsed(text)), JSON.stringify(JSON.parse(text)))
})

test.whole('long texts are cut between characters and escapes, whatever they are of', async () => {
  const length = bytesAtOnce + 100_000
  for (const unit of ['\\\\', '\\n', '\\u00e9', '漢', '\u{1f600}', '\\ud83d\\ude00', 'x\\/é', 'base64+/'])
    for (const start of ['', 'x', '\\n', 'xyz', 'é', 'long\\u0041'])
      for (const count of unit === '\\\\' || start === '' ? [length, length + 1] : [length / 2]) {
        const text = `["${start}${unit.repeat(Math.floor(count / Buffer.byteLength(unit)))}"]`
        assert.ok(
          ((await parsed(text)) as string[])[0] === (JSON.parse(text) as string[])[0],
          `${start} ${unit} ${count}`,
        )
      }
})

test('what JSON.parse refuses is refused, with the place of the fault where JSON.parse knows it', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: longText - 2, max: longText + 200 }), { minLength: 1, maxLength: 4 }),
      fc.nat(2000),
      fc.nat(3),
      fc.constantFrom('', '"', '\\', '\n', '\u0001', ',', '{', 'x', '\\u12', '\\n', '0'),
      async (lengths, at, removed, added) => {
        const whole = JSON.stringify(Object.fromEntries(lengths.map((length, name) => [name, 'x'.repeat(length)])))
        const place = at % whole.length
        const text = whole.slice(0, place) + added + whole.slice(place + removed)
        const [expected, found] = [await outcome(() => parseMetered(text)), await outcome(() => parsed(text))]
        if (String(expected).includes('near its beginning')) assert.match(String(found), /is not JSON: the fault is/)
        else assert.equal(found, expected)
      },
    ),
    { numRuns: 1000 },
  ))

test('the place of a fault behind long texts is told as its byte', async () => {
  const long = `"${'é'.repeat(50_000)}"`
  for (const [text, byte] of [
    [`[${long},${long},"\n"]`, 2 * (100_002 + 1) + 2],
    [`[${long},"${'x'.repeat(longText)}\n"]`, 100_002 + 2 + longText + 1],
    [`[${long},"${'x'.repeat(3 * MiB)}\n"]`, 100_002 + 2 + 3 * MiB + 1],
    [`[${long},"${'é\\n'.repeat(MiB)}\\x"]`, 100_002 + 2 + 4 * MiB + 2],
    [`[${long},"${'x'.repeat(3 * MiB)}`, 100_002 + 3 + 3 * MiB],
  ] as const)
    assert.is(await outcome(() => parsed(text)), `The body is not JSON: the fault is at byte ${byte + 1}`)
})

test('a forbidden key is found beside long texts', async () => {
  const long = `"a":"${'x'.repeat(100_000)}"`
  for (const text of [`{${long},"__proto__":{}}`, `{${long},"b":[{"constructor":{"prototype":1}}]}`])
    assert.match(await outcome(() => parsed(text)), /forbidden key/)
})

test.whole('no turn reads more than is allowed at once, of one text of 12 MiB and of thousands', async () => {
  for (const [value, escapes] of [
    ['x'.repeat(12 * MiB), 1],
    [Array(2000).fill('x'.repeat(6000)), 1],
    [`${'\n'.repeat(MiB)}${'x'.repeat(8 * MiB)}`, 4],
    [[...Array(20).fill('漢'.repeat(50_000)), 'x'.repeat(9 * MiB)], 1],
  ] as const) {
    const text = JSON.stringify(value)
    const size = Buffer.byteLength(text)
    let stages = 0
    let longest = 0
    const parse = JSON.parse
    JSON.parse = (json: string) => {
      longest = Math.max(longest, json.length)
      return parse(json)
    }
    try {
      assert.equal(await parsed(text, [65_536], { isOver: () => ++stages < 0 }), value)
    } finally {
      JSON.parse = parse
    }
    assert.ok(stages >= ((1 + escapes) * size) / bytesAtOnce, `${stages} stages for ${size} bytes`)
    assert.ok(longest <= bytesAtOnce + 2, String(longest))
  }
})

test.whole('for a client who has gone it ends before the next turn', async () => {
  for (const last of [1, 3, 20]) {
    let asked = 0
    const isOver = () => ++asked > last
    assert.match(await outcome(() => parsed(JSON.stringify('x'.repeat(30 * MiB)), [65_536], { isOver })), /went away/)
    assert.is(asked, last + 1)
  }
})

test.run()

async function parsed(text: string, cuts: readonly number[] = [65_536], work?: HeavyWork): Promise<unknown> {
  const bytes = Buffer.from(text)
  const meter = createJsonMeter('the body', requestBounds)
  const pieces: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; at += pieces.at(-1)!.length, turn++) {
    pieces.push(bytes.subarray(at, at + cuts[turn % cuts.length]!))
    meter.push(pieces.at(-1)!)
  }
  return parseInTurns(await joinInTurns(pieces, bytes.length, work), meter.longTexts(), 'the body', work)
}

/** "parsed", or the words of the refusal. */
async function outcome(parse: () => unknown): Promise<string> {
  try {
    await parse()
    return 'parsed'
  } catch (reason) {
    if (!(reason instanceof AppError)) throw reason
    return [reason.message, ...reason.details].join(': ')
  }
}
