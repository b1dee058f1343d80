import * as assert from 'uvu/assert'
import { linesIn } from '../../../src/personas/profile/rules.ts'
import { ownSentences } from '../../../src/personas/profile/sentences.ts'
import { readScenes, type Scene } from '../../bench/memory-parts/scenes.ts'
import { fixture } from '../../helpers/fixture.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the rules of the profile')

/** By language, sentences with the slot and the subject of the line that each gives; '' for none. */
const sentences =
  fixture<Readonly<Record<string, readonly (readonly [sentence: string, line: string])[]>>>(
    'personas/profile-lines.json',
  )

/** The profile knows him. */
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

test('lasting traits are found in eighty wordings, and not in sixty statements with similar words', () => {
  const { scenes, passing } = readScenes<{ scenes: readonly Scene[]; passing: readonly string[] }>('standing-more')
  const isFound = ({ said, in: words }: Scene) =>
    said.some(([, text]) => linesIn(text, []).some((line) => words.some((word) => line.text.includes(word))))
  const missed = scenes.filter((scene) => !isFound(scene)).map(({ said }) => said[0]![1])
  assert.ok(scenes.length === 80 && missed.length <= 10, missed.join('\n'))
  assert.equal(linesIn('I lent my drill to the neighbour on the second floor, Ivar.', []), [])
  const wrong = passing.filter((text) => linesIn(text, []).length > 0)
  assert.ok(passing.length === 60 && wrong.length <= 2, wrong.join('\n'))
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
