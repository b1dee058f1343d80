import * as assert from 'uvu/assert'
import { linesIn } from '../../../src/personas/profile/rules.ts'
import { ownSentences } from '../../../src/personas/profile/sentences.ts'
import { suite } from '../../helpers/suite.ts'
import { sentences } from './sentences.ts'

const test = suite('the rules of the profile')

const ilyas = { name: 'Ilyas', kin: 'son' }

for (const [language, rows] of Object.entries(sentences))
  test(`find what always holds, and nothing else, in ${language}`, () => {
    for (const [sentence, expected] of rows) {
      const found = linesIn(sentence, [ilyas]).map(({ slot, about }) => `${slot} ${about}`)
      assert.ok(expected === '' ? found.length === 0 : found.includes(expected), `${sentence}: ${found.join(', ')}`)
    }
  })

test('there are 120 sentences or more, in 15 languages', () => {
  assert.is(Object.keys(sentences).length, 15)
  assert.ok(Object.values(sentences).flat().length >= 120)
})

test('only words of the author count: no file, code, quotation or long document', () => {
  const fact = 'I am allergic to nuts'
  for (const text of [
    `<file path="page.html">${fact}</file>\nwhat is this?`,
    `<file path="page.html">${fact}`,
    `\`\`\`\n${fact}\n\`\`\``,
    `> ${fact}`,
    `He said “${fact}”`,
    `${fact}. ${'A sentence of a report about the weather. '.repeat(60)}`,
  ])
    assert.equal(linesIn(text, []), [], text)
  assert.is(linesIn(`<file path="a">x</file>\n${fact}`, []).length, 1)
})

test('a long line of any signs is read in a moment', () => {
  for (const text of [
    'a '.repeat(900),
    'I am '.repeat(390),
    "'".repeat(1900),
    '私は'.repeat(90),
    'my son '.repeat(40),
  ]) {
    const begun = performance.now()
    linesIn(text, [ilyas])
    ownSentences(text)
    assert.ok(performance.now() - begun < 2_000, text.slice(0, 20))
  }
})

test.run()
