import * as assert from 'uvu/assert'
import { indexWords, openWordTable } from '../../src/word-vectors/word-table.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the table of words')

const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((each) => !each.includes('\n'))

/** A table over the bytes of a list, behind which others follow as they do in the file. */
function createWordTable(words: readonly string[]) {
  const list = Buffer.from(words.join('\n'))
  const index = indexWords(list)
  return { size: index.size, ...openWordTable(Buffer.concat([list, Buffer.from('   ')]), index) }
}

test('finds each word at its place in the list, and no other text, as a Map of the same words does', () =>
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), fc.array(word), (words, others) => {
      const table = createWordTable(words)
      const places = new Map(words.map((each, row) => [each, row] as const).reverse())
      assert.is(table.size, places.size)
      for (const each of [...words, ...others, `${words[0]}\n${words[1]}`, `${words[0]}x`])
        assert.is(table.find(each), places.get(each))
    }),
  ))

test('finds all of 86,000 words, as many as the built-in vectors have', () => {
  const words = Array.from({ length: 86_000 }, (_, row) => `word${row.toString(36)}`)
  const table = createWordTable(words)
  assert.is(table.size, words.length)
  words.forEach((each, row) => {
    assert.is(table.find(each), row)
  })
  assert.is(table.find('word'), undefined)
})

test.run()
