// Some with --all only: many processes.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { parseWav } from '../../../speech/audio/wav.ts'
import { interrupted } from '../../../src/cli/terminal/io.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { heldOut } from '../../helpers/speech/language-samples.ts'
import { openLongTexts, sentences } from '../../helpers/speech/long-texts.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts of a long text')
const { environment, path, words, run, stopAt, leftovers, reset, close } = await openLongTexts()
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

test.whole(
  'Ctrl-C keeps what was made and says how to go on; another text or voice finds nothing to go on from',
  async () => {
    const args = words('short.txt', '-o', path('stopped.wav'))
    const { code, stderr } = await stopped(12, args)
    assert.is(code, 130)
    const early = await stopped(1, words('short.txt', '-o', path('early.wav')))
    assert.match(early.stderr, /stopped: none of 7 parts was finished, and nothing is kept\n/)
    assert.match(
      stderr,
      /stopped: \d of 7 parts are kept in .*stopped\.wav\.parts; the same command goes on from there/,
    )
    writeFileSync(path('stopped.wav.parts/mine'), 'mine')
    reset()
    writeFileSync(path('other.txt'), sentences(150, 'moon'))
    for (const other of [
      words('other.txt', '-o', path('stopped.wav')),
      [...args, '--voice', 'marius'],
      [...args, '--seed', '3'],
    ]) {
      const stop = stopAt(1)
      const controller = new AbortController()
      const running = runMain(other, { environment, signal: controller.signal })
      await stop.reached
      controller.abort(interrupted)
      assert.not.match((await running).stderr, /going on/)
      stop.go()
    }
    reset()
    const rest = await runMain(args, { environment })
    assert.match(rest.stderr, /going on after \d of 7 parts/)
    assert.is((await runMain(args, { environment })).code, 73)
    assert.is((await run('short.txt', '-o', path('unbroken.wav'))).code, 0)
    assert.equal(readFileSync(path('stopped.wav')), readFileSync(path('unbroken.wav')))
    // A file of another origin in the folder is left alone.
    assert.equal(leftovers(), ['stopped.wav.parts'])
    assert.equal(readdirSync(path('stopped.wav.parts')), ['mine'])
  },
)

test('with --json it prints the counts and the length', async () => {
  const { code, stdout, stderr } = await run('short.txt', '-o', path('counted.wav'), '--json')
  assert.is(code, 0, stderr)
  const { file, format, chunks, skipped, seconds } = JSON.parse(stdout)
  assert.equal([file, format, skipped, chunks.spoken === chunks.total], [path('counted.wav'), 'wav', [], true])
  assert.ok(Math.abs(seconds - (statSync(file).size - 44) / 2 / parseWav(readFileSync(file)).sampleRate) < 0.001)
})

test('a part of a foreign script is left out and named', async () => {
  const foreign = `${sentences(120)}\n\n${'今天天气很好，我们出去走走。'.repeat(140)}\n\n${sentences(30)}`
  writeFileSync(path('mixed.txt'), foreign)
  const { code, stderr } = await run('mixed.txt', '-o', path('mixed.wav'))
  assert.is(code, 0, stderr)
  assert.match(stderr, /parts of the text not spoken: .*今天天气/)
})

test.whole(
  'of a book of 40,000 characters in three languages the chapters that the engine speaks are spoken',
  async () => {
    const chapter = (language: string) =>
      Array.from({ length: 140 }, (_, at) => heldOut[language]![at % 10]!)
        .join(' ')
        .slice(0, 13_000)
    const foreign = `Kapitel Zwei\n\n${chapter('German')}\n\nChapitre Trois\n\n${chapter('French')}`
    writeFileSync(path('three.txt'), `Chapter One\n\n${chapter('English')}\n\n${foreign}`)
    writeFileSync(path('one.txt'), `Chapter One\n\n${chapter('English')}`)
    const secondsOf = async (name: string) => {
      const { code, stdout } = await run(name, '-o', path(`${name}.wav`), '--json')
      assert.is(code, 0)
      const { skipped, seconds, chunks } = JSON.parse(stdout)
      assert.is(chunks.spoken + skipped.length, chunks.total)
      return { skipped: skipped as string[], seconds }
    }
    const [three, one] = [await secondsOf('three.txt'), await secondsOf('one.txt')]
    assert.equal(one.skipped, [])
    assert.ok(Math.abs(three.seconds - one.seconds) < 5, `${three.seconds} s, and of English ${one.seconds} s`)
    assert.ok(three.skipped.length > 2)
  },
)

test('without a file a long text is refused as ever', async () => {
  const refused = await run('short.txt')
  assert.equal([refused.code, refused.stdout], [65, ''])
  assert.match(refused.stderr, /10,000/)
})

test('where the parts cannot be kept the error names their folder', async () => {
  writeFileSync(path('taken.wav.parts'), 'mine')
  const refused = await run('short.txt', '-o', path('taken.wav'))
  assert.is(refused.code, 73)
  assert.match(refused.stderr, /Cannot write to .*taken\.wav\.parts/)
  rmSync(path('taken.wav.parts'))
})

test.whole('--raw is the samples alone; at a terminal a bar counts the parts', async () => {
  assert.is((await run('short.txt', '-o', path('one.wav'))).code, 0)
  const raw = await runMain(words('short.txt', '-o', path('one.raw'), '--raw'), { environment, shown: true })
  assert.is(raw.code, 0, raw.stderr)
  assert.equal(readFileSync(path('one.raw')), readFileSync(path('one.wav')).subarray(44))
  assert.match(raw.stderr, /\[[#-]{24}\] +\d+% \d of 7 parts spoken/)
})

test.run()
