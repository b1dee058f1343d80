import * as assert from 'uvu/assert'
import { baseForm, contentWords, partsOf } from '../../src/word-vectors/words.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the words that vectors are made of')

const vocabulary = 'cat bus knife run bake mouse saw see home sick web cam boil trek'.split(' ')
const known = (word: string) => vocabulary.includes(word)

test('inflected words lead to the known word they are a form of', () => {
  const forms = { cats: 'cat', buses: 'bus', knives: 'knife', baked: 'bake', baking: 'bake', mice: 'mouse', ran: 'run' }
  for (const [form, base] of Object.entries(forms)) assert.is(baseForm(form, known), base, form)
})

test('a word that no rule leads anywhere stays as it is', () => {
  assert.is(baseForm('zorblatts', known), 'zorblatts')
})

test('an unknown word is guessed from the two words or the one that it is made of', () => {
  assert.equal(partsOf('webcam', known), ['web', 'cam'])
  assert.equal(partsOf('homesick', known), ['home', 'sick'])
  assert.equal(partsOf('catlike', known), ['cat'])
  assert.equal(partsOf('unboiled', known), ['boil'])
  assert.equal(partsOf('zorblatt', known), [])
})

test('function words are left out, in any case and with any apostrophe', () => {
  assert.equal(contentWords("The cat's mice weren't in THE bus", known), ['cat', 'mouse', 'bus'])
})

test('a word as long as a whole text is looked up a few times, and not at each of its letters', () => {
  for (const word of ['x'.repeat(20_000), 'ing'.repeat(6_000), 'webcam'.repeat(3_000)]) {
    let letters = 0
    const counted = (asked: string) => {
      letters += asked.length
      return known(asked)
    }
    contentWords(word, counted)
    assert.equal(partsOf(word, counted), [])
    assert.ok(letters < 20 * word.length, `${letters} letters were looked up`)
  }
})

test.run()
