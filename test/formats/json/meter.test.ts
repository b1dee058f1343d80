// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { parseJson } from '../../../src/formats/json/json.ts'
import { createJsonMeter, type JsonBounds, type JsonMeter, longText } from '../../../src/formats/json/meter.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('JSON before it is parsed')
const runs = { numRuns: 300, seed: 11 }

test.whole('values are counted as JSON.parse makes them, wherever the pieces are cut', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.array(fc.nat(40), { minLength: 1 }), (value, cuts) => {
      const text = JSON.stringify(value, null, cuts[0]! % 3)
      const { values, empty } = countOf(JSON.parse(text))
      const counted = leastThatPasses(text, cuts, 'values')
      // An empty list or object may count as two: its bracket opens room for a value.
      assert.ok(counted >= values && counted <= values + empty, `${text}: ${counted} for ${values}`)
    }),
    runs,
  )
})

test('texts are no structure: brackets, commas, quotes and backslashes in them count for nothing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', '\\', '{', '[', ',', ']', 'é', 'x') }),
      fc.nat(7),
      (text, cut) => {
        measure(JSON.stringify([text, text]), [cut + 1], { depth: 1, values: 3 })
      },
    ),
    runs,
  )
})

test('each bound is named by its number: values, fields of one object, depth, escapes, a name, bytes outside of texts', () => {
  for (const [text, bounds, message] of [
    ['[1,2,3]', { values: 3 }, 'The body holds more than 3 values'],
    ['{"a":1,"b":2,"c":3}', { names: 2 }, 'The body holds an object with more than 2 fields'],
    ['[[[]]]', { depth: 2 }, 'The body is nested more than 2 levels deep'],
    ['["\\n\\n\\n"]', { escapes: 2 }, 'The body holds more than 2 escapes in its texts'],
    ['{"a":1,"abcd":2}', { nameBytes: 3 }, 'The body holds the name of a field of more than 3 bytes'],
    ['[{"a":"long"},{"abcd":2}]', { nameBytes: 3 }, 'The body holds the name of a field of more than 3 bytes'],
    ['{"ab":1,"a":{"bc":2}}', { allNames: 4 }, 'The body holds names of fields of more than 4 bytes'],
    ['[1234567]', { outside: 7 }, 'The body holds more than 7 bytes outside of its texts'],
    ['{      }', { outside: 7 }, 'The body holds more than 7 bytes outside of its texts'],
  ] as const)
    for (let cut = 1; cut <= text.length; cut++)
      assert.throws(
        () => measure(text, [cut], bounds),
        (reason: AppError) => reason instanceof AppError && reason.message === message,
      )
})

test('a list has as many elements as it likes where only fields are bounded', () => {
  measure('[1,2,3,{"a":[1,2,3]}]', [2], { names: 1 })
  measure('["\\n\\n"]', [2], { escapes: 2, values: 2 })
})

test('texts are as long as they like where names and what stands outside are bounded', () => {
  for (const text of ['{"abc":"abcdefgh","d":["abcdefgh"]}', '["abcdefgh",{"abc":"a,{b"}]'])
    for (let cut = 1; cut <= text.length; cut++) measure(text, [cut], { nameBytes: 3, outside: 20 })
})

test('long texts are told with their places and their escapes, wherever the pieces are cut; names are not', () => {
  const long = 'x'.repeat(longText)
  const text = `{"${long}":"${long}","a":["${long.slice(1)}","\\"${long}","${long}`
  for (const cut of [1, 2, 3, 7, 255, 5000]) {
    const found = measure(text, [cut], { nameBytes: longText })
    const told = found.longTexts().map(({ start, end, hasEscapes }) => [text.slice(start, end), hasEscapes])
    assert.equal(told, [
      [long, false],
      [`\\"${long}`, true],
      [long, false],
    ])
  }
})

test('a key that would reach a prototype is found in long texts too, and only there', () => {
  const pad = 'x'.repeat(100_000)
  for (const text of [`{"a":"${pad}","__proto__":{}}`, `{"a":"${pad}","b":[{"constructor":{"prototype":1}}]}`])
    assert.throws(
      () => parseJson(text),
      (reason: AppError) => /forbidden key/.test(reason.message),
    )
  assert.ok(parseJson(`{"a":"__proto__ ${pad}","constructor":"mine"}`))
})

test('the place of a fault is told without cutting a long text at each of its lines', () => {
  assert.throws(
    () => parseJson(`${'\n'.repeat(5_000_000)}x`),
    (reason: AppError) => reason.details.join().length < 100,
  )
  assert.throws(
    () => parseJson('{\n  "a": [1, 2'),
    (reason: AppError) => /too early|line 2/.test(reason.details.join()),
  )
})

test.run()

function measure(text: string, cuts: readonly number[], bounds: Partial<JsonBounds>): JsonMeter {
  const meter = createJsonMeter('the body', bounds)
  const bytes = Buffer.from(text)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, cuts[turn % cuts.length]!)
    meter.push(bytes.subarray(at, at + size))
    at += size
  }
  return meter
}

function leastThatPasses(text: string, cuts: readonly number[], bound: keyof JsonBounds): number {
  for (let most = 1; ; most++)
    try {
      measure(text, cuts, { [bound]: most })
      return most
    } catch {
      // One more, then.
    }
}

function countOf(value: unknown): { values: number; empty: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, empty: 0 }
  const inner = Object.values(value).map(countOf)
  return {
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
    empty: (inner.length === 0 ? 1 : 0) + inner.reduce((sum, { empty }) => sum + empty, 0),
  }
}
