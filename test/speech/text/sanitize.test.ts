// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { fixture } from '../../helpers/fixture.ts'
import { fc } from '../../helpers/properties.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('text made ready to be spoken')

const tables =
  fixture<Readonly<Record<string, readonly (readonly [written: string, spoken: string])[]>>>('sanitized.json')
for (const [name, rows] of Object.entries(tables))
  test(name, () => {
    for (const [written, spoken] of rows) assert.is(sanitize(written), spoken)
  })

/** Texts made of the marks that the sanitiser looks for. */
const marks =
  '* ** _ ` ~~ ( ) （ ） [ ] [a](b) ![x](y) (laughs) (see) \\n - # > 1. 😀 👩‍👩‍👧 aaaaa !!! ... 。 你好 é e\u0301 \u200d \ud83d \\ \\* ‼ a*b 5*3 a_b <b> | --- [^1] ½'
const marked = fc
  .array(fc.constantFrom(...marks.split(' ').map((mark) => mark.replace('\\n', '\n')), ' ', 'ab', 'Z', '1'), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''))

test('clean text is left alone: twice is once', () =>
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), marked), (text) => {
      const once = sanitize(text)
      // A line feed of the result stands between paragraphs; read again, it would be a wrapped line's.
      for (const line of once.split('\n')) assert.is(sanitize(line), /[\p{L}\p{N}]/u.test(line) ? line : '')
      assert.is(/[\p{Cc}\p{Cf}\p{Cs}]/u.test(once.replaceAll('\n', '')), false)
    }),
  ))

test('letters and digits of plain prose are never lost', () =>
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zäöüßéñçа-я一-龥가-힣0-9]{1,3}$/u), { minLength: 1 }), (words) => {
      assert.is(sanitize(words.join(' ')), words.join(' ').normalize('NFC'))
    }),
  ))

test.whole('hostile text of 300,000 characters is read without quadratic time', () => {
  const size = isWholeRun ? 300_000 : 100_000
  const hostile = [
    '(',
    '[',
    '[a](',
    '](',
    '*',
    '* ',
    '_',
    '`',
    '😀 ',
    '\\',
    '<http:',
    '# ',
    '> ',
    '- ',
    'a\u0301\u0327',
    'a\n',
    '`\n',
    '[\r\n',
    '- - ',
  ]
  const closed = ['('.repeat(size / 2) + ')'.repeat(size / 2), '(laughs '.repeat(size / 16) + ')'.repeat(size / 16)]
  const texts = [...hostile.map((piece) => piece.repeat(size / piece.length)), ...closed, `a${'\u0301'.repeat(size)}`]
  for (const text of texts) {
    // Quadratic time would take minutes here; the bound leaves a slow and busy machine a hundredfold of the need.
    const milliseconds = cpuOf(() => sanitize(text))
    assert.ok(milliseconds < size / 30, `${text.slice(0, 8)}…: ${milliseconds} ms`)
  }
})

/** Milliseconds of processor time, which a busy machine stretches less than the clock. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test.run()
