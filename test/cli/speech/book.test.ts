import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav } from '../../../speech/audio/wav.ts'
import { processMark } from '../../../src/storage/shared/process-mark.ts'
import { aichatCommand, openHome } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { openChanceServer } from '../../helpers/speech/chance-server.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts of a long text')
const home = openHome()
test.after(() => home.remove())
const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
const path = (name: string) => join(home.folder, name)

/** The engine's behaviour at a chunk, set by each test. */
let atChunk: (text: string) => Promise<void> | void = () => {}
/** Pieces that lose a clause. */
let drops: (text: string) => boolean = () => false
let server: Awaited<ReturnType<typeof openChanceServer>>
test.before(async () => {
  server = await openChanceServer({
    wordTimes: 'measured',
    begin: (text) => atChunk(text),
    drops: (text) => drops(text),
  })
})
test.after(() => server.close())
test.before.each(() => {
  atChunk = () => {}
  drops = () => false
})

const sentences = (count: number, word = 'sun') =>
  Array.from(
    { length: count },
    (_, index) => `This is sentence number ${index}, and the north wind and the ${word} were disputing, yes. `,
  ).join('')
writeFileSync(path('book.txt'), sentences(520).slice(0, 40_000))
writeFileSync(path('short.txt'), sentences(150))

const words = (name: string, ...more: readonly string[]) => ['tts', '-i', path(name), '--server', server.url, ...more]
const run = (name: string, ...more: readonly string[]) => runMain(words(name, ...more), { environment })

/** Resolves when the engine has begun so many chunks; they wait from then on, until the test lets them go. */
function stopAt(count: number) {
  let begun = 0
  let go = () => {}
  const released = new Promise<void>((resolve) => {
    go = resolve
  })
  const reached = new Promise<void>((resolve) => {
    atChunk = async () => {
      begun += 1
      if (begun === count) resolve()
      if (begun >= count) await released
    }
  })
  return { reached, go, begun: () => begun }
}

async function killed(signal: 'SIGKILL' | 'SIGINT', chunk: number, args: readonly string[]) {
  const stop = stopAt(chunk)
  const [program, ...before] = aichatCommand
  const child = spawn(program!, [...before, ...args], { env: { PATH: process.env['PATH'], ...environment } })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  await stop.reached
  child.kill(signal)
  const [code, by] = await once(child, 'close')
  stop.go()
  return { code, by, stderr }
}

test('40,000 characters, killed twice and resumed, have the bytes of a run that was not', async () => {
  const whole = await run('book.txt', '-o', path('whole.wav'), '--timestamps', path('whole.json'))
  assert.is(whole.code, 0, whole.stderr)
  const args = words('book.txt', '-o', path('killed.wav'), '--timestamps', path('killed.json'))
  assert.is((await killed('SIGKILL', 20, args)).by, 'SIGKILL')
  const first = JSON.parse(readFileSync(path('killed.wav.state'), 'utf8'))
  assert.ok(first.done > 0 && first.done < first.parts)
  assert.is((await killed('SIGKILL', 30, args)).by, 'SIGKILL')
  const second = JSON.parse(readFileSync(path('killed.wav.state'), 'utf8'))
  assert.ok(second.done > first.done && second.done < second.parts)
  for (const name of ['killed.wav.state', 'killed.wav.part', 'killed.wav.words'])
    assert.is(statSync(path(name)).mode & 0o777, 0o600, name)
  assert.not.ok(existsSync(path('killed.wav')))
  let chunks = 0
  atChunk = () => void chunks++
  const rest = await runMain(args, { environment })
  assert.is(rest.code, 0, rest.stderr)
  assert.match(rest.stderr, /going on after \d+ of 2\d parts/)
  assert.ok(chunks < 60, 'what was made is not made again')
  const wav = readFileSync(path('killed.wav'))
  assert.equal(wav, readFileSync(path('whole.wav')))
  assert.equal([wav.readUInt32LE(4), wav.readUInt32LE(40)], [wav.length - 8, wav.length - 44])
  assert.ok(parseWav(wav).samples.length > 40_000)
  assert.equal(leftovers(), [])
  const times = readFileSync(path('killed.json'), 'utf8')
  assert.is(times, readFileSync(path('whole.json'), 'utf8'))
  const told = JSON.parse(times)
    .words.map(({ text }: { text: string }) => text)
    .join(' ')
  assert.is(told, readFileSync(path('book.txt'), 'utf8').trim())
})

test('Ctrl-C keeps what was made and says how to go on; another text or voice is refused with what to do', async () => {
  const args = words('short.txt', '-o', path('stopped.wav'))
  const { code, stderr } = await killed('SIGINT', 12, args)
  assert.is(code, 130)
  const early = await killed('SIGINT', 1, words('short.txt', '-o', path('early.wav')))
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
  assert.equal(leftovers(), [])
  assert.is((await runMain(args, { environment })).code, 73)
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

test('a disk that takes no more is an error that keeps what was made', async () => {
  const [program, ...before] = aichatCommand
  const command = [program!, ...before, ...words('short.txt', '-o', path('full.wav'))]
  const child = spawn('/bin/sh', ['-c', 'ulimit -f 1000; exec "$@"', 'sh', ...command], {
    env: { PATH: process.env['PATH'], ...environment },
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  assert.is(code, 73, stderr)
  assert.match(stderr, /full\.wav\.part: the file may not grow further\n.*parts? (?:is|are) kept.*same command goes on/)
  assert.is((await run('short.txt', '-o', path('full.wav'))).code, 0)
  assert.is((await run('short.txt', '-o', path('unbroken.wav'))).code, 0)
  assert.equal(readFileSync(path('full.wav')), readFileSync(path('unbroken.wav')))
})

test('a part of a foreign script is left out and named, and chunks that were spoken again are counted', async () => {
  const foreign = `${sentences(120)}\n\n${'今天天气很好，我们出去走走。'.repeat(140)}\n\n${sentences(30)}`
  writeFileSync(path('mixed.txt'), foreign)
  let begun = 0
  drops = () => ++begun === 3
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
  atChunk = () => {
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

function leftovers(): readonly string[] {
  return readdirSync(home.folder).filter((name) => /\.(?:part|state|words|lock|tmp)$/.test(name))
}

test.run()
