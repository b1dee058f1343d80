import * as assert from 'uvu/assert'
import { countCharacters, splitChunks, splitSentences } from '../../../speech/text/sentences.ts'
import { fixture } from '../../helpers/fixture.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('sentences and chunks')

const languages = fixture<Readonly<Record<string, readonly string[]>>>('sentences.json')
for (const [language, sentences] of Object.entries(languages))
  test(`${language}: sentences end where they end`, () => {
    const glue = /Chinese|Japanese/.test(language) ? '' : ' '
    assert.equal(splitSentences(sentences.join(glue)), sentences)
  })

test('a line feed ends a sentence', () => assert.equal(splitSentences('Title\nText here'), ['Title', 'Text here']))

test('chunks are packed sentences of at most 500 characters', () => {
  const sentence = 'The weather will change before the end of the week.'
  const chunks = splitChunks(Array(30).fill(sentence).join(' '))
  assert.is(chunks.length, 4)
  for (const chunk of chunks) assert.ok(chunk.length <= 500 && chunk.endsWith('.') && chunk.startsWith('The'))
})

test('a long sentence is cut at clause marks, then between words', () => {
  const clauses = splitChunks(`${'one two three four five six seven eight nine ten, '.repeat(20)}end.`)
  for (const chunk of clauses.slice(0, -1)) assert.ok(chunk.endsWith('ten,') && chunk.length <= 500)
  const words = splitChunks('word '.repeat(400).trim())
  for (const chunk of words) assert.match(chunk, /^word( word)*$/)
  const chinese = splitChunks('今天天气很好，'.repeat(200))
  for (const chunk of chinese.slice(0, -1)) assert.ok(chunk.endsWith('，') && countCharacters(chunk) <= 500)
})

test('an address is never cut, a single longer word is', () => {
  const url = `https://example.org/${'a/b.c,'.repeat(60)}x`
  const chunks = splitChunks(`${'Look at this page now. '.repeat(10)}${url} please.`)
  assert.ok(chunks.some((chunk) => chunk.includes(url)))
  assert.equal(splitChunks('x'.repeat(1200)).map(countCharacters), [500, 500, 200])
})

test('any text: chunks keep within the limit, lose no letter, and split no character', () =>
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.constantFrom('. ', '。', ', ', '\n', ' '))),
      fc.integer({ min: 20, max: 500 }),
      (pieces, limit) => {
        const text = pieces.join('')
        const chunks = splitChunks(text, limit)
        for (const chunk of chunks) {
          assert.ok(countCharacters(chunk) <= limit)
          assert.not.match(chunk, /\p{Cs}/u)
          assert.is(chunk, chunk.trim())
        }
        assert.is(chunks.join('').replace(/\s/g, ''), text.replace(/\s/g, ''))
      },
    ),
  ))

test('graphemes stay whole where a word must be cut', () => {
  const family = '👨‍👩‍👧'
  const chunks = splitChunks(family.repeat(300))
  for (const chunk of chunks) assert.is(chunk.replaceAll(family, ''), '')
})

test.run()
