import * as assert from 'uvu/assert'
import { readSearch, searchTermsOf, snippetOf } from '../../../src/personas/chat/search-words.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the words of a search in conversations')

test('words lose case and accents; scripts without spaces become pairs of characters', () => {
  assert.equal(searchTermsOf("L'Hôtel Straße, ﬁne-tuned 12.5"), ['l', 'hotel', 'strasse', 'fine', 'tuned', '12', '5'])
  assert.equal(searchTermsOf('東京都 a旅行3月'), ['東京', '京都', '都', 'a', '旅行', '行', '3', '月'])
})

test('a word, words in a row and the beginning of a word find what holds them, in any script', () => {
  const text = 'The night train to Zürich leaves; 明日は東京へ旅行します'
  for (const query of [
    'night zurich',
    '"train to zurich"',
    'zur* LEAV*',
    '"to zü"*',
    '旅行',
    '東京 旅行',
    '旅',
    '"東京へ旅行"',
  ])
    assert.ok(matches(text, query), query)
  for (const query of ['nights', '"night to"', 'zur', '京東', '旅京', 'day', '"to zü"'])
    assert.not.ok(matches(text, query), query)
})

test('a quote that is not closed reaches to the end, and signs of query languages mean nothing', () => {
  assert.equal(readSearch('"night train'), [{ terms: ['night', 'train'], isPrefix: false }])
  assert.equal(
    readSearch('a AND (b OR -c) NEAR/2 d:e ^f*').map(({ terms }) => terms.join(' ')),
    ['a', 'and', 'b', 'or', 'c', 'near 2', 'd e', 'f'],
  )
  for (const nothing of ['', '*', '"', '"" \'; --', '…', '\0']) assert.equal(readSearch(nothing), [], nothing)
  assert.is(readSearch('a '.repeat(1000)).length, 32)
})

test('a snippet shows the first found words on one line, and marks what was found in it', () => {
  const { text, marks } = snippetOf(
    `${'before '.repeat(40)}the\nNight Train.${' after'.repeat(40)}`,
    readSearch('"night train" after'),
  )
  assert.match(text, /^…(?:before )+the Night Train\.(?: after)+ ?\S*…$/)
  assert.ok(text.length <= 202)
  assert.equal(
    marks.slice(0, 2).map(([start, end]) => text.slice(start, end)),
    ['Night Train', 'after'],
  )
  assert.equal(snippetOf('東京へ旅行', readSearch('旅行')), { text: '東京へ旅行', marks: [[3, 5]] })
  assert.equal(snippetOf('none here', readSearch('other')), { text: 'none here', marks: [] })
})

test('any text is a search, its terms hold no syntax, and each word of a text finds it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      for (const { terms } of readSearch(text)) for (const term of terms) assert.match(term, /^[\p{L}\p{M}\p{N}]+$/u)
      for (const word of text.split(/\s+/))
        if (readSearch(word).length > 0)
          assert.ok(matches(text, `"${word.replaceAll('"', ' ')}"`) || word.includes('"'))
      const { text: snippet, marks } = snippetOf(text, readSearch(text))
      for (const [start, end] of marks) assert.ok(start < end && end <= snippet.length)
    }),
  )
})

test('a snippet of a text with a word in every place marks those in its piece alone', () => {
  const { text, marks } = snippetOf('word '.repeat(20_000), readSearch('word '.repeat(32)))
  assert.is(text.length, 201)
  assert.is(marks.length, 40)
})

test.run()

function matches(text: string, query: string): boolean {
  const groups = readSearch(query)
  return groups.every((group) => snippetOf(text, [group]).marks.length > 0)
}
