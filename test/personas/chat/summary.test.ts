import * as assert from 'uvu/assert'
import type { SavedMessage } from '../../../src/personas/chat/conversation.ts'
import { checkedSummary, summaryOf, summaryPrompt } from '../../../src/personas/chat/summary.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('summaries of conversations')

const noon = Date.UTC(2026, 4, 14, 12)
const same = (text: string) => text

function talk(...texts: readonly string[]): SavedMessage[] {
  return texts.flatMap((content, at) => [
    { message: { role: 'user', content }, timestamp: noon + at * 40_000_000 },
    { message: { role: 'assistant', content: 'Secret answer.' }, timestamp: noon + at * 40_000_000 },
  ])
}

test('name days, turns, words in the language of the talk, and the first question', () => {
  assert.is(
    summaryOf(talk('Der Garten braucht Wasser.', 'Was pflanze ich im Garten neben den Tomaten?', 'Danke!'), same),
    '2026-05-14 to 2026-05-15, 3 turns: Garten, braucht, pflanze, Tomaten, Wasser; "Was pflanze ich im Garten neben den Tomaten?"',
  )
  assert.match(summaryOf(talk('花园里的番茄要浇水吗？', '番茄在花园里长得很好。'), same)!, /, 2 turns: .*番茄/)
  assert.is(summaryOf(talk('ok'), same), '2026-05-14, 1 turn')
  assert.equal([summaryOf(talk('', '  '), same), summaryOf([], same)], [undefined, undefined])
})

test('say nothing of what was said off the record', () => {
  const said = talk('My garden is dry.', "Don't remember this: my pregnancy began in May?")
  assert.is(summaryOf(said, same), '2026-05-14, 2 turns: garden')
  assert.not.match(JSON.stringify(summaryPrompt(said, same)), /pregnancy/)
})

test('hold no secret, no code and no line break, and stay short whatever was said', () => {
  const said = [
    'My password is hunter2-9x?',
    '```js\nconst leak = 1?\n```',
    `Which\n\u001b[31m"one"\u202e is ${'long '.repeat(500)}?`,
    'x'.repeat(100_000),
    'a\u0301'.repeat(5_000),
    '\ud800'.repeat(1_000),
    '?'.repeat(10_000),
  ]
  const line = summaryOf(talk(...said), same)!
  assert.ok(line.length < 500, line)
  assert.not.match(line, /hunter2|leak|[\p{Cc}\p{Cf}]/u)
  assert.is(Buffer.from(line).toString(), line)
  const shown = summaryPrompt(talk(...said), same).map(({ content }) => String(content))
  assert.not.match(shown.join(), /hunter2|leak/)
  const key = (text: string) => text.replaceAll('sk-own', '[key]')
  assert.not.match(summaryOf(talk('Is sk-own the key of the garden?'), key)!, /sk-own/)
})

test('of a model are taken only where they are a line about the conversation', () => {
  const messages = talk('My cat Mog is afraid of thunder.')
  assert.is(checkedSummary(' Mog,\n the cat ', messages, same), '2026-05-14, 1 turn: Mog, the cat')
  const wrong = ['', 'Weather forecast', 'Mog '.repeat(2_000_000), 'The password of Mog is hunter2-9x', '\u0301']
  const longest = `Mog ${'x'.repeat(296)}`
  assert.is(checkedSummary(longest, messages, same), `2026-05-14, 1 turn: ${longest}`)
  for (const answer of [...wrong, `${longest}x`, '{"facts":[]}'])
    assert.throws(() => checkedSummary(answer, messages, same), /no summary/, answer.slice(0, 30))
})

test.run()
