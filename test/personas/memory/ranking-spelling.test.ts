import * as assert from 'uvu/assert'
import { readQuery } from '../../../src/personas/memory/ranking-query.ts'
import { likeness, spellingLookups } from '../../../src/personas/memory/ranking-spelling.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('words that are spelled alike')

test('inflections and parts of compounds have credit, other words none, the same word all of it', () => {
  for (const [asked, word] of [
    ['приемника', 'приемник'],
    ['studiert', 'studieren'],
    ['kartoffelsalat', 'salat'],
    ['читать', 'прочитать'],
  ] as const) {
    const credit = likeness(asked, word)
    assert.ok(credit > 0 && credit < 1, `${asked} ${word} ${credit}`)
  }
  for (const [asked, word] of [
    ['cat', 'car'],
    ['hand', 'handle with care'.replaceAll(' ', '')],
    ['water', 'later'],
    ['', 'word'],
  ] as const)
    assert.is(likeness(asked, word), 0, `${asked} ${word}`)
  assert.is(likeness('word', 'word'), 1)
})

test('every word that has credit by its beginning is found by a lookup', () => {
  const [term] = readQuery('studiert').terms
  const lookups = spellingLookups(term!, 'de')
  for (const word of ['studieren', 'studiert', 'studien'])
    if (likeness(term!.term, word) > 0)
      assert.ok(
        lookups.some(({ text, isPrefix }) => (isPrefix ? word.startsWith(text) : word === text)),
        word,
      )
})

test('lookups are few, and there are none for numbers, short words and characters', () => {
  for (const text of ['2024', 'cat', '中文'])
    for (const term of readQuery(text).terms) assert.equal(spellingLookups(term, 'de'), [], term.term)
  const [long] = readQuery('x'.repeat(5_000)).terms
  assert.ok(spellingLookups(long!, 'de').length <= 11)
})

test.run()
