// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { spellPlainly } from '../../../speech/engines/flite/spelling.ts'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { divideUnspoken } from '../../../speech/text/unspoken.ts'
import { fc } from '../../helpers/properties.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('what a voice cannot say')

const english = ['English']

test('words in another script are taken out of an English text and listed', () => {
  const rows: readonly (readonly [text: string, spoken: string, ...unspoken: string[]])[] = [
    ['The word 你好 means hello.', 'The word means hello.', '你好'],
    ['He said “你好，世界” (Привет), and left.', 'He said, and left.', '你好，世界', 'Привет'],
    ['नमस्ते, friend. שלום!', ', friend.!', 'नमस्ते', 'שלום'],
    ['αβγ is no word, but π and Δx are.', 'is no word, but π and Δx are.', 'αβγ'],
    ['a ⊕ b', 'a b', '⊕'],
    ['カー and ー', 'and', 'カー', 'ー'],
  ]
  for (const [text, spoken, ...unspoken] of rows) {
    const divided = divideUnspoken(text, english)
    assert.equal([divided.spoken, ...divided.unspoken], [spoken, ...unspoken])
  }
})

test('accented Latin letters, signs with a name and compatible letters are spoken', () => {
  const text = 'Café ñ ß łódź Ærø €5 5 °C 10% ½ x² ™ → ≤ ∞ ﬁ Ａ Ⅳ № 5 µm ‰ – — … “”'
  assert.equal(divideUnspoken(text, english), { spoken: text, unspoken: [] })
})

test('an engine of other languages says their letters, and Chinese, Japanese and Korean voices read Latin ones', () => {
  const text = 'Hello 你好 Привет'
  assert.equal(divideUnspoken(text, ['Chinese']).unspoken, ['Привет'])
  assert.equal(divideUnspoken(text, ['Russian']).unspoken, ['Hello 你好'])
  assert.equal(divideUnspoken(text, ['English', 'Chinese', 'Russian']).unspoken, [])
  assert.equal(divideUnspoken('「ビール」、１２０㎡。', ['Japanese']).unspoken, [])
})

test.whole('every character that counts as spoken is said or is punctuation: nothing is lost between the two', () => {
  const lost: string[] = []
  for (let code = 0x21; code < 0x1_f800; code += isWholeRun ? 1 : 7) {
    const character = String.fromCodePoint(code)
    if (!/[\p{L}\p{N}\p{S}]/u.test(character)) continue
    const clean = sanitize(`a ${character} b`)
    // A letter of the alphabet is spoken in any case; this one in between is taken out, listed, or said.
    if (clean === 'a b' || divideUnspoken(clean, english).unspoken.length > 0) continue
    if (!/^a,? .*[A-Za-z0-9].* b$/.test(spellPlainly(clean))) lost.push(`${character} ${code.toString(16)}`)
  }
  // Spacing marks and signs of punctuation, which are pauses or nothing.
  assert.equal(
    lost.filter((row) => !/^[\p{Sk}\p{Lm}`'$|\\]/u.test(row)),
    [],
  )
})

test('any text: its spoken and unspoken parts hold all letters, in their order', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const clean = sanitize(text)
      const { spoken, unspoken } = divideUnspoken(clean, english)
      const letters = (value: string) => value.match(/[\p{L}\p{N}]/gu)?.length ?? 0
      assert.is(letters(spoken) + letters(unspoken.join('')), letters(clean))
      assert.equal(divideUnspoken(spoken, english).unspoken, [])
    }),
    { seed: 31, numRuns: 300 },
  ))

test('10,000 characters of anything take one pass', () => {
  for (const piece of ['你', 'я ', 'αβ', '⊕ ', '你,', 'a你', '(я)', '“” '])
    assert.ok(divideUnspoken(piece.repeat(10_000 / piece.length), english))
})

test.run()
