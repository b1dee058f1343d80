import * as assert from 'uvu/assert'
import { suite } from '../../helpers/suite.ts'
import { openScreen, streamed } from './screen.ts'

const test = suite('a table of an answer')

const table = [
  '| left | mid | right |',
  '|:-|:-:|-:|',
  '| a | b | c |',
  '| left cell | mid cell | right cell |',
  '',
].join('\n')

test('aligns its columns as their marks say', async () => {
  const screen = openScreen(60, 10)
  await streamed(screen, [table])
  assert.equal(await screen.lines(), [
    'left      │   mid    │      right',
    '──────────┼──────────┼───────────',
    'a         │    b     │          c',
    'left cell │ mid cell │ right cell',
  ])
})

test('is a list of its rows where a column would have fewer than six characters', async () => {
  const lines = async (columns: number) => {
    const screen = openScreen(columns, 20)
    await streamed(screen, [table])
    return screen.lines()
  }
  assert.match((await lines(24))[0]!, '│')
  assert.equal(await lines(23), [
    ...['left: a', 'mid: b', 'right: c', '────────'],
    ...['left: left cell', 'mid: mid cell', 'right: right cell'],
  ])
})

test('breaks a cell where its text breaks', async () => {
  const screen = openScreen(60, 10)
  await streamed(screen, ['| a | b |\n|-|-|\n| one<br>two | x |\n'])
  assert.equal((await screen.lines()).slice(2), ['one │ x', 'two │ '])
})

test.run()
