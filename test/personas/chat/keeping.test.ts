import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { keepingOfAnswer, keepingSteps, partsOf, type Refusal, refusalOf } from '../../../src/personas/chat/keeping.ts'
import { atOnce } from '../../../src/process/heavy-turns.ts'
import { testData } from '../../helpers/data.ts'
import { fixture } from '../../helpers/fixture.ts'
import { pluck } from '../../helpers/pluck.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('what a chat keeps')

/** Texts of many languages, by the reason for which they are refused, and texts that are kept although they look alike. */
const { refused, kept } = fixture<{
  readonly refused: Readonly<Record<Exclude<Refusal, 'no words'>, readonly string[]>>
  readonly kept: readonly string[]
}>('personas/keeping.json')

function keepingOfTurn(text: string, redact = (same: string) => same, end = '') {
  return atOnce(keepingSteps(text, redact, end))
}

for (const [reason, texts] of Object.entries(refused))
  test(`${reason} is refused in every language`, () => {
    const wrong = texts.filter((text) => {
      const parts = keepingOfTurn(text)
      const named = reason === 'small talk' ? ['small talk', 'no words'] : [reason]
      return parts.length === 0 || !parts.every(({ refusal }) => refusal && named.includes(refusal))
    })
    assert.equal(wrong, [])
  })

test('facts, preferences and plans are kept as they were said, however they begin', () => {
  const wrong = kept.filter((text) => {
    const parts = keepingOfTurn(text)
    return parts.length !== 1 || parts[0]!.content !== text || parts[0]!.refusal !== undefined
  })
  assert.equal(wrong, [])
})

test('a wish to keep nothing also counts at the end of a message that is longer than what is kept of it', () => {
  const end = "That was the report. Please don't remember this."
  assert.equal(pluck(keepingOfTurn('The pump of the third mill leaks.', undefined, end), 'refusal'), ['off the record'])
})

const recorded = testData('memory', 'relevance.json')
const withRecords = recorded === undefined ? test.skip : test

withRecords(
  'of recorded facts and plans at most one in a hundred is refused, of requests and code 85 in a hundred',
  () => {
    const { memories } = JSON.parse(readFileSync(recorded!, 'utf8')) as {
      memories: readonly { content: string; kind: string }[]
    }
    const share = (kinds: readonly string[]) => {
      const chosen = memories.filter(({ kind }) => kinds.includes(kind))
      return (
        chosen.filter(({ content }) => keepingOfTurn(content).every(({ refusal }) => refusal)).length / chosen.length
      )
    }
    assert.ok(share(['fact', 'preference', 'plan', 'note']) <= 0.01)
    assert.ok(share(['request', 'code']) >= 0.85)
  },
)

test('a question alone weighs little, and an answer less than the words of its user', () => {
  assert.equal(pluck(keepingOfTurn('What is the capital of Peru?'), 'importance'), [0.2])
  assert.equal(pluck(keepingOfTurn('I live in Lima.'), 'importance'), [0.5])
  assert.equal(pluck(keepingOfAnswer('The capital of Peru is Lima.'), 'importance'), [0.3])
  assert.equal(pluck(keepingOfAnswer("You're welcome!"), 'refusal'), ['small talk'])
})

test('a key that this installation has handed out is a secret, whatever its form', () => {
  const redact = (text: string) => text.replaceAll('plain-words-as-key', '[key]')
  assert.is(refusalOf('use plain-words-as-key for the tests', redact), 'secret')
  assert.is(refusalOf('use plain words for the tests', redact), undefined)
  assert.equal(pluck(keepingOfTurn('Write a test with plain-words-as-key', redact), 'refusal'), ['secret'])
})

test('code between statements is left out, and the statements stay', () => {
  const parts = keepingOfTurn('My server runs Debian.\n\n```\nuname -a\n```\n\nIt stands in the cellar of my house.')
  assert.equal(pluck(parts, 'content', 'refusal'), [
    ['My server runs Debian.', undefined],
    ['```\nuname -a\n```', 'code'],
    ['It stands in the cellar of my house.', undefined],
  ])
})

test('a long turn is split at its paragraphs, and a list into parts under its heading', () => {
  const paragraph = (word: string) => `${`${word} was there and saw it all. `.repeat(12).trim()}`
  const turn = ['Ada', 'Bob', 'Cleo', 'Dan'].map(paragraph).join('\n\n')
  assert.equal(partsOf(turn), ['Ada', 'Bob', 'Cleo', 'Dan'].map(paragraph))
  const items = Array.from({ length: 60 }, (_, at) => `- item number ${at} of the things that I lent out to friends`)
  const parts = partsOf(`Lent out:\n\n${items.join('\n')}`)
  assert.ok(parts.length > 1)
  for (const part of parts) assert.match(part, /^Lent out:\n- item/)
  assert.equal(
    parts.flatMap((part) => part.split('\n').slice(1)),
    items,
  )
  const short = `${'A sentence. '.repeat(40)}\n\nAnother paragraph.`
  assert.equal(partsOf(short), [short.trim()], 'a turn that is not long stays whole')
})

test('whatever a turn holds, its parts are of bounded length and lose no letter', () => {
  const piece = fc.oneof(
    fc.lorem({ maxCount: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 400 }),
    fc.constant('\n\n'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const turn = pieces.join(' ').slice(0, 20_000)
      const parts = partsOf(turn)
      const letters = (text: string) => text.replace(/\s+/g, '')
      const isWellFormed = (text: string) => Buffer.from(text).toString() === text
      for (const part of parts) {
        assert.ok(part.trim() !== '' && (isWellFormed(part) || !isWellFormed(turn)))
        if (!part.startsWith('```')) assert.ok(part.length <= 1_800, String(part.length))
      }
      assert.ok(parts.length <= 40, String(parts.length))
      assert.is(letters(parts.join('')), letters(turn))
    }),
  )
})

test('a turn of the greatest length is judged in a moment, whatever it repeats', () => {
  for (const word of [
    'a ',
    '(',
    '{',
    '"',
    'please ',
    'thanks ',
    '- x\n',
    '\n',
    '```',
    'if (',
    '1 ',
    '谢',
    '把',
    'password is ',
    'haha',
  ])
    keepingOfTurn(word.repeat(20_000 / word.length))
})

test.run()
