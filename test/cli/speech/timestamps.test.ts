// Some with --all only: many processes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { closing } from '../../helpers/disposal.ts'
import { pluck } from '../../helpers/pluck.ts'
import { openFastHome, runMain } from '../../helpers/program/terminal.ts'
import { openChanceServer } from '../../helpers/speech/chance-server.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts --timestamps')
const home = openFastHome()
test.after(() => home.remove())
const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
const path = (name: string) => join(home.folder, name)
const run = (...words: readonly string[]) => runMain(['tts', ...words], { environment })

const long =
  'It rains again today, and the north wind & the <sun> were disputing which was the stronger, until he came along at last'
const text = `Hello there, Dr. Smith. ${long}. Is it so? --> Yes.`

test('subtitles hold a cue for each sentence, two or more for a long one, by a strict reading of both formats', async () => {
  await using server = closing(await openChanceServer({ wordTimes: 'estimated' }))
  for (const [name, parse] of [
    ['a.srt', parseSrt],
    ['a.vtt', parseVtt],
  ] as const) {
    const { code, stderr } = await run(
      text,
      '-o',
      path(`${name}.wav`),
      '--timestamps',
      path(name),
      '--server',
      server.url,
    )
    assert.is(code, 0, stderr)
    const cues = parse(readFileSync(path(name), 'utf8'))
    assert.is(
      cues
        .map((cue) => cue.text.replace('\n', ' '))
        .join(' ')
        .replace('→', '-->'),
      text,
    )
    assert.is(cues[0]!.text, 'Hello there, Dr. Smith.')
    assert.ok(cues.length >= 5)
    for (const [index, { start, end, text: lines }] of cues.entries()) {
      assert.ok(end > start && start >= (cues[index - 1]?.end ?? 0))
      for (const line of lines.split('\n')) assert.ok(line.length <= 50)
    }
  }
  assert.match(readFileSync(path('a.vtt'), 'utf8'), /^WEBVTT\n\nNOTE The times are estimated\.\n\n/)
})

test.whole('the built-in voice measures them, out of the box, and the audio is the same', async () => {
  const plain = await run('Hello there. And again.')
  const timed = await run('Hello there. And again.', '--timestamps', path('b.json'))
  assert.is(timed.code, 0, timed.stderr)
  assert.equal(timed.bytes, plain.bytes)
  const { estimated, words, sentences } = JSON.parse(readFileSync(path('b.json'), 'utf8'))
  assert.is(estimated, false)
  assert.equal(pluck(words, 'text'), ['Hello', 'there.', 'And', 'again.'])
  assert.equal(pluck(sentences, 'text'), ['Hello there.', 'And again.'])
})

test('another ending, a file that is there, and an engine without word times are refused before any file is written', async () => {
  writeFileSync(path('there.srt'), 'mine')
  await using server = closing(await openChanceServer())
  for (const [words, code, says] of [
    [['--timestamps', path('c.txt')], 64, /\.json, \.srt, \.vtt/],
    [['--timestamps', path('there.srt')], 73, /already exists/],
    [['--timestamps', path('c.srt'), '--server', server.url], 69, /chance engine cannot tell[\s\S]*built-in voice/],
  ] as const) {
    const refused = await run('Hello there.', '-o', path('c.wav'), ...words)
    assert.is(refused.code, code, refused.stderr)
    assert.match(refused.stderr, says)
    assert.not.ok(existsSync(path('c.wav')) || existsSync(path('c.srt')))
  }
  assert.is(readFileSync(path('there.srt'), 'utf8'), 'mine')
})

type Cue = { readonly start: number; readonly end: number; readonly text: string }

function parseSrt(content: string): readonly Cue[] {
  return content.split('\n\n').map((block, index) => {
    const [number, times, ...lines] = block.replace(/\n$/, '').split('\n')
    assert.is(number, String(index + 1))
    return {
      ...parseTimes(times!, /^(\d\d:[0-5]\d:[0-5]\d,\d{3}) --> (\d\d:[0-5]\d:[0-5]\d,\d{3})$/),
      text: textOf(lines),
    }
  })
}

function parseVtt(content: string): readonly Cue[] {
  const [head, ...blocks] = content.replace(/\n$/, '').split('\n\n')
  assert.is(head, 'WEBVTT')
  return blocks
    .filter((block) => !block.startsWith('NOTE '))
    .map((block) => {
      const [times, ...lines] = block.split('\n')
      const text = textOf(lines)
      assert.not.match(text, /<|&(?!(?:amp|lt|gt);)/)
      const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
      return { ...parseTimes(times!, /^(\d\d:[0-5]\d:[0-5]\d\.\d{3}) --> (\d\d:[0-5]\d:[0-5]\d\.\d{3})$/), text: plain }
    })
}

function parseTimes(line: string, pattern: RegExp) {
  const found = pattern.exec(line)
  assert.ok(found, line)
  const seconds = (clock: string) =>
    clock.split(/[:.,]/).reduce((sum, part, index) => sum + Number(part) * [3600, 60, 1, 0.001][index]!, 0)
  return { start: seconds(found![1]!), end: seconds(found![2]!) }
}

/** A cue has one or two lines, none of them empty or with an arrow. */
function textOf(lines: readonly string[]): string {
  assert.ok(lines.length >= 1 && lines.length <= 2)
  for (const line of lines) assert.ok(line.trim() !== '' && !line.includes('-->'))
  return lines.join('\n')
}

test.run()
