import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import * as assert from 'uvu/assert'
import { parseWav } from '../../../speech/audio/wav.ts'
import { interrupted } from '../../../src/cli/terminal/io.ts'
import { processMark } from '../../../src/storage/shared/process-mark.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { openLongTexts, sentences } from '../../helpers/speech/long-texts.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts of a long text')
const { environment, engine, path, words, run, stopAt, leftovers, reset, close } = await openLongTexts()
test.before.each(reset)
test.after(close)

/** Runs a command and presses Ctrl-C when the engine has begun so many chunks. */
async function stopped(chunk: number, args: readonly string[]) {
  const controller = new AbortController()
  const stop = stopAt(chunk)
  const running = runMain(args, { environment, signal: controller.signal })
  await stop.reached
  controller.abort(interrupted)
  const ran = await running
  stop.go()
  return ran
}

test('Ctrl-C keeps what was made and says how to go on; another text or voice is refused with what to do', async () => {
  const args = words('short.txt', '-o', path('stopped.wav'))
  const { code, stderr } = await stopped(12, args)
  assert.is(code, 130)
  const early = await stopped(1, words('short.txt', '-o', path('early.wav')))
  assert.match(early.stderr, /stopped: none of 7 parts was finished, and nothing is kept\n/)
  assert.not.match(early.stderr, /early\.wav/)
  assert.match(stderr, /stopped: \d of 7 parts are kept in .*stopped\.wav\.part; the same command goes on from there/)
  writeFileSync(path('other.txt'), sentences(150, 'moon'))
  for (const [other, says] of [
    [words('other.txt', '-o', path('stopped.wav')), /begun with another.* text/],
    [[...args, '--voice', 'marius'], /begun with another voice/],
    [[...args, '--seed', '3'], /begun with another seed/],
  ] as const) {
    const refused = await runMain(other, { environment })
    assert.is(refused.code, 73)
    assert.match(refused.stderr, says)
    assert.match(refused.stderr, /same text and options[\s\S]*--force/)
  }
  writeFileSync(path('stopped.wav.part'), 'cut')
  assert.match((await runMain(args, { environment })).stderr, /its audio so far is gone[\s\S]*--force/)
  assert.is((await runMain([...args, '--force'], { environment })).code, 0)
  assert.is((await runMain(args, { environment })).code, 73)
  const resumed = words('short.txt', '-o', path('resumed.wav'))
  await stopped(12, resumed)
  reset()
  const rest = await runMain(resumed, { environment })
  assert.match(rest.stderr, /going on after \d of 7 parts/)
  assert.equal(readFileSync(path('resumed.wav')), readFileSync(path('stopped.wav')))
  assert.equal(leftovers(), [])
})

test('a second command for the same file is refused, and the first one finishes', async () => {
  const stop = stopAt(4)
  const first = run('short.txt', '-o', path('both.wav'), '--json')
  await stop.reached
  const second = await run('short.txt', '-o', path('both.wav'))
  stop.go()
  assert.is(second.code, 73)
  assert.match(second.stderr, /Another command writes .*both\.wav now\n {2}If none does, remove .*both\.wav\.lock\n/)
  const { code, stdout, stderr } = await first
  assert.is(code, 0, stderr)
  const { file, format, chunks, skipped, seconds } = JSON.parse(stdout)
  assert.equal([file, format, skipped, chunks.spoken === chunks.total], [path('both.wav'), 'wav', [], true])
  assert.ok(Math.abs(seconds - (statSync(file).size - 44) / 2 / parseWav(readFileSync(file)).sampleRate) < 0.001)
  // The lock of a process that was killed, whose id another one has by now.
  const held = { pid: process.pid, host: hostname(), mark: processMark().replace(/-\d+$/, '-1') }
  writeFileSync(path('reused.wav.lock'), JSON.stringify(held))
  assert.is((await run('short.txt', '-o', path('reused.wav'))).code, 0)
})

test('a part of a foreign script is left out and named, and chunks that were spoken again are counted', async () => {
  const foreign = `${sentences(120)}\n\n${'今天天气很好，我们出去走走。'.repeat(140)}\n\n${sentences(30)}`
  writeFileSync(path('mixed.txt'), foreign)
  let begun = 0
  engine.drops = () => ++begun === 3
  const { code, stderr } = await run('mixed.txt', '-o', path('mixed.wav'))
  assert.is(code, 0, stderr)
  assert.match(stderr, /parts of the text not spoken: .*今天天气/)
  assert.match(stderr, /1 chunk spoken again/)
})

test('without a file a long text is refused as ever, and so is one that no longer fits the state beside it', async () => {
  const refused = await run('short.txt')
  assert.equal([refused.code, refused.stdout], [65, ''])
  assert.match(refused.stderr, /10,000/)
  writeFileSync(path('strange.wav.state'), '{}')
  const strange = await run('short.txt', '-o', path('strange.wav'))
  assert.is(strange.code, 73)
  assert.match(strange.stderr, /no state of a recording/)
})

test('a file of another origin beside the output is left alone, and one that is taken away in the middle is an error', async () => {
  writeFileSync(path('mine.wav.part'), 'mine')
  const refused = await run('short.txt', '-o', path('mine.wav'))
  assert.is(refused.code, 73)
  assert.match(refused.stderr, /mine\.wav\.part already exists[\s\S]*--force/)
  assert.is(readFileSync(path('mine.wav.part'), 'utf8'), 'mine')
  rmSync(path('mine.wav.part'))
  let chunks = 0
  engine.atChunk = () => {
    if (++chunks === 12) rmSync(path('gone.wav.part'))
  }
  const gone = await run('short.txt', '-o', path('gone.wav'))
  assert.is(gone.code, 73)
  assert.match(gone.stderr, /gone\.wav\.part: file or folder not found/)
  assert.is((await run('short.txt', '-o', path('gone.wav'), '--force')).code, 0)
})

test('--raw is the samples alone; at a terminal a bar counts the parts', async () => {
  assert.is((await run('short.txt', '-o', path('one.wav'))).code, 0)
  const raw = await runMain(words('short.txt', '-o', path('one.raw'), '--raw'), { environment, shown: true })
  assert.is(raw.code, 0, raw.stderr)
  assert.equal(readFileSync(path('one.raw')), readFileSync(path('one.wav')).subarray(44))
  assert.match(raw.stderr, /\[[#-]{24}\] +\d+% \d of 7 parts spoken/)
})

test.run()
