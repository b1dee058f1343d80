// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { anyCharacter, fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'
import { writtenAnswers } from './answers.ts'
import { openScreen, streamed } from './screen.ts'

const test = suite('Markdown that means harm')

/** Hostile output of a model: sequences of terminals, characters without a shape, and Markdown around them. */
const harmful = fc.oneof(
  anyCharacter,
  fc.constantFrom(
    ...[
      '\x1b',
      '\x1b[2J',
      '\x1b[10A',
      '\x1b]0;title\x07',
      '\x1b]8;;http://x\x1b\\',
      '\x9b',
      '\x9d',
      '\x90',
      '\x07',
      '\x08',
    ],
    ...['\r', '\u202e', '\u2066', '\u200b', '&#27;', '&#x1b;', '&#x9b;', '&#x202e;', '&#10;', '\ud800', '\u{e0041}'],
    ...['\n', '\n\n', '```', '```js\n', '~~~', '|', '|--|\n', '- ', '1. ', '> ', '# ', '**', '`', '[', '](', '<', '\t'],
  ),
)

test('reaches the terminal as text: nothing but our own sequences', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(harmful, { maxLength: 12 }), { maxLength: 12 }), async (pieces) => {
      const screen = openScreen(40, 10)
      await streamed(
        screen,
        pieces.map((piece) => piece.join('')),
      )
      assert.is(foreign(screen.bytes()), undefined, JSON.stringify(screen.bytes()))
      await screen.lines()
      assert.equal([screen.title(), screen.column()], ['', 0])
    }),
    { numRuns: 300 },
  )
})

test.whole('is cut without a trace like any other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(harmful, { maxLength: 8 }), { maxLength: 12 }), async (pieces) => {
      const [whole, cut] = [openScreen(40, 10), openScreen(40, 10)]
      const texts = pieces.map((piece) => piece.join(''))
      await streamed(whole, [texts.join('')])
      await streamed(cut, texts)
      assert.equal(await cut.lines(), await whole.lines())
    }),
    { numRuns: 300 },
  )
})

test.whole('stays as narrow as the window, but for code, which the terminal breaks', async () => {
  for (const columns of [10, 20, 40])
    for (const answer of writtenAnswers.filter((text) => !/```|~~~|^ {4}/m.test(text))) {
      const screen = openScreen(columns, 200)
      await streamed(screen, [answer])
      const lines = screen.bytes().replace(ours, '').split('\n').length - 1
      // No line was broken by the terminal: there are as many rows as lines.
      const rows = (await screen.lines()).length
      assert.ok(rows <= lines, `${columns}: ${JSON.stringify(answer)}`)
    }
})

test('shows the address of a link behind its text', async () => {
  const screen = openScreen(80, 24)
  await streamed(screen, ['[https://bank.example](https://evil.example) [x](javascript:alert(1)) <https://a.example>'])
  assert.equal(await screen.lines(), [
    'https://bank.example (https://evil.example) [x](javascript:alert(1))',
    'https://a.example',
  ])
})

test.run()

/** The sequences that the view writes: styles, cursor up, erase below, begin and end of an update. */
const ours = /\x1b\[(?:[0-9;]*m|\d+A\r\x1b\[J|\?2026[hl])/g

/** The first character in the bytes that is not text. */
function foreign(bytes: string): string | undefined {
  return /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/u.exec(
    bytes.replace(ours, ''),
  )?.[0]
}
