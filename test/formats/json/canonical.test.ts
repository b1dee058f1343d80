import * as assert from 'uvu/assert'
import { canonicalize, parseStrictJson, parseStrictJsonBytes, wellFormed } from '../../../src/formats/json/canonical.ts'
import { fixture } from '../../helpers/fixture.ts'
import { anyCharacter, fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const rfc8785 = suite('canonical JSON')

/** RFC 8785, appendix B: the bits of a double and its text. */
const numbers = fixture<readonly (readonly [bits: string, text: string])[]>('rfc8785-numbers.json')

rfc8785('writes the numbers of appendix B as the RFC does', () => {
  for (const [bits, text] of numbers) assert.is(canonicalize(Buffer.from(bits, 'hex').readDoubleBE()), text, bits)
})

rfc8785('refuses NaN and the infinities, as appendix B does', () => {
  for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])
    assert.throws(() => canonicalize([Buffer.from(bits, 'hex').readDoubleBE()]), /JSON has no number/)
})

rfc8785('turns the sample of section 3.2.2 into the bytes of section 3.2.4', () => {
  const sample = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  const bytes =
    '7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d'
  assert.is(Buffer.from(canonicalize(parseStrictJson(sample))).toString('hex'), bytes)
})

rfc8785('sorts keys by UTF-16 code units, as section 3.2.3 shows', () => {
  const sample = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
    "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
  const values = [...canonicalize(parseStrictJson(sample)).matchAll(/:"([^"]+)"/g)].map((match) => match[1])
  assert.equal(values, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

/** The shapes of the RFC author's published test data: input and canonical text. */
const shapes: readonly (readonly [input: string, output: string])[] = [
  [
    '[ 56, { "d": true, "10": null, "1": [ ] } ]', //
    '[56,{"1":[],"10":null,"d":true}]',
  ],
  [
    '{"peach":"a","péché":"b","pêche":"c","sin":"d"}', //
    '{"peach":"a","péché":"b","pêche":"c","sin":"d"}',
  ],
  [
    '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}',
    '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
  ],
  ['{"Unnormalized Unicode":"A\\u030a"}', '{"Unnormalized Unicode":"A\u030a"}'],
  [
    '{"\\u20ac":"Euro","\\r":"CR","</script>":"Browser Challenge","\\u000a":"Newline"}',
    '{"\\n":"Newline","\\r":"CR","</script>":"Browser Challenge","\u20ac":"Euro"}',
  ],
]

rfc8785('keeps arrays in order, sorts at every level and never normalises', () => {
  for (const [input, output] of shapes) assert.is(canonicalize(parseStrictJson(input)), output)
})

const refused: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  ['a key given twice', '{"a":1,"b":{"c":1,"c":1}}', /key "c" twice/],
  ['a key given twice in two spellings', String.raw`{"a":1,"\u0061":2}`, /key "a" twice/],
  ['a lone surrogate in a text', String.raw`["\ud800"]`, /surrogate/],
  ['a lone surrogate in a key', String.raw`{"\udead":1}`, /surrogate/],
  ['an integer that loses digits', '[9007199254740993]', /loses digits/],
  ['one among short numbers', `[${'0.123456789,'.repeat(50)}9007199254740993,\n 1]`, /loses digits/],
  ['a list within bounds one level too deep', `${'['.repeat(128)}[1,2]${']'.repeat(128)}`, /deeper than 128/],
  ['a number that does not fit', '[1e400]', /no number/],
  ['a long integer that does not fit', `[${'9'.repeat(400)}]`, /loses digits/],
  ['a key that reaches the prototype', '[{"__proto__":{"admin":true}}]', /forbidden key/],
  ['the same in disguise', String.raw`{"\u005f_proto__":{"admin":true}}`, /forbidden key/],
  ['nesting beyond the limit', `${'['.repeat(129)}${']'.repeat(129)}`, /deeper than 128/],
  ['nesting that would exhaust the stack', '['.repeat(1_000_000), /deeper than 128/],
  ['a text that breaks off', '{"a":"b', /does not parse/],
  ['a leading zero', '[01]', /does not parse/],
  ['a second value', '{} {}', /does not parse/],
  ['nothing', '', /does not parse/],
]

for (const [name, text, message] of refused)
  rfc8785(`refuses ${name}`, () => {
    assert.throws(() => parseStrictJson(text), message)
  })

rfc8785('refuses bytes that are no UTF-8, and a byte order mark', () => {
  assert.throws(() => parseStrictJsonBytes(Uint8Array.of(0x22, 0xff, 0x22)), /not UTF-8/)
  assert.throws(() => parseStrictJsonBytes(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)), /does not parse/)
})

rfc8785('accepts every integer that a double holds exactly, also where it is long', () => {
  for (const text of ['9007199254740992', '-9007199254740991', '100000000000000000000', '123456789012345680000'])
    assert.is(canonicalize(parseStrictJson(text)), text)
})

rfc8785('puts a sign in the place of half a surrogate pair, in keys and values', () => {
  const value = { a: ['x\ud800y', 1, null], '\udead': { ok: '\ud83d\ude00' } }
  assert.equal(wellFormed(value), { a: ['x\ufffdy', 1, null], '\ufffd': { ok: '\ud83d\ude00' } })
})

rfc8785('gives one text for one value, for any order of keys and any white space', () => {
  void fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: anyCharacter }), (value) => {
      const text = canonicalize(value)
      fc.pre(!text.includes('__proto__'))
      assert.is(canonicalize(parseStrictJson(text)), text)
      assert.is(canonicalize(parseStrictJson(JSON.stringify(reversed(value), null, 2))), text)
    }),
  )
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  )
}

rfc8785.run()
