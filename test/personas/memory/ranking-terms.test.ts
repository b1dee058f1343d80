import * as assert from 'uvu/assert'
import { queryTermsOf } from '../../../src/personas/memory/ranking-query.ts'
import { termsOf, unified } from '../../../src/personas/memory/ranking-terms.ts'
import { anyCharacter, fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the terms of a text')

/** Texts of combining marks, apostrophes and scripts without spaces, where a word may come apart into nothing. */
const marks = fc
  .array(
    fc.constantFrom(
      '\u0301',
      '\u0308',
      '\u0338',
      '\u20dd',
      '\u0e31',
      '猫',
      'タ',
      '여',
      'a',
      's',
      '1',
      "'",
      '’',
      ' ',
      'ß',
    ),
    { maxLength: 8 },
  )
  .map((all) => all.join(''))

test('are letters, marks and digits, and never empty, for any text', () => {
  const text = fc.oneof(marks, fc.string({ unit: anyCharacter, maxLength: 40 }), fc.string({ unit: 'grapheme' }))
  void fc.assert(
    fc.property(text, (given) => {
      for (const term of [...termsOf(given), ...queryTermsOf(given)]) assert.match(term, /^[\p{L}\p{M}\p{N}]+$/u)
    }),
    { numRuns: 3000 },
  )
})

test('leave out words of nothing but dropped marks', () => {
  for (const nothing of ['\u0301', '\u0301\u0308', " \u0301 '\u0301 ", '\u0338’\u0338'])
    assert.equal([termsOf(nothing), queryTermsOf(nothing)], [[], []], JSON.stringify(nothing))
  assert.equal(termsOf('\u0301 cat \u0301'), ['cat'])
  assert.equal(queryTermsOf("\u0301'猫"), ['猫'])
})

test('are the stems of the author of the stemmer: its step 5b follows 5a', () => {
  const stems = {
    controlled: 'control',
    vaudeville: 'vaudevil',
    vaudevilles: 'vaudevil',
    danielle: 'daniel',
    tell: 'tell',
  }
  for (const [word, stem] of Object.entries(stems)) assert.equal(termsOf(word), [stem], word)
})

test('a word of any length has a stem', () => {
  for (const letters of ['y', 'yb', 'ab', 'b']) assert.is(termsOf(letters.repeat(20_000)).length, 1, letters)
})

test('a text of compatibility forms becomes no longer than it was, but for 2,000 characters, and is found by one of them', () => {
  const text = 'ﷺ'.repeat(19_900)
  assert.is(text.normalize('NFKC').length, 358_200)
  const terms = termsOf(text)
  assert.ok(terms.join(' ').length <= 22_000, `${terms.join(' ').length}`)
  // No space parts one form from the next: the last word of each is one with the first of another.
  assert.equal(terms.slice(0, 3), queryTermsOf('ﷺ').slice(0, 3))
  assert.is(unified('…'.repeat(900)), '...'.repeat(900))
})

test('a long text is unified in pieces as it would be at once, wherever they are cut', () => {
  const piece = fc.constantFrom(
    'e\u0301\u0323',
    '\u1112\u1161\u11ab',
    'ｶﾞ',
    'ﬁ',
    '가',
    '漢',
    '𝐇',
    'a',
    ' ',
    '\u0e33',
    '①',
  )
  void fc.assert(
    fc.property(fc.array(piece, { minLength: 100, maxLength: 400 }), (pieces) => {
      assert.is(unified(pieces.join('')), pieces.join('').normalize('NFKC'))
    }),
    { numRuns: 300 },
  )
})

test.run()
