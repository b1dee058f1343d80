// With --all only: a killed process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav } from '../../../speech/audio/wav.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { openLongTexts } from '../../helpers/speech/long-texts.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat tts of a long text that is stopped')
const { environment, engine, path, words, run, stopAt, leftovers, reset, close } = await openLongTexts()
test.before.each(reset)
test.after(close)

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

test('40,000 characters, killed, stopped with Ctrl-C and resumed, have the bytes of a run that was not', async () => {
  const whole = await run('book.txt', '-o', path('whole.wav'))
  assert.is(whole.code, 0, whole.stderr)
  const args = words('book.txt', '-o', path('killed.wav'))
  const folder = path('killed.wav.parts')
  const kept = () => readdirSync(folder).filter((name) => name.endsWith('.json')).length
  assert.is((await killed('SIGKILL', 20, args)).by, 'SIGKILL')
  const first = kept()
  assert.ok(first > 0)
  assert.is((await killed('SIGINT', 30, args)).code, 130)
  assert.ok(kept() > first)
  for (const name of readdirSync(folder)) assert.is(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  assert.not.ok(existsSync(path('killed.wav')))
  let chunks = 0
  engine.atChunk = () => void chunks++
  const rest = await runMain(args, { environment })
  assert.is(rest.code, 0, rest.stderr)
  assert.match(rest.stderr, /going on after \d+ of 2\d parts/)
  assert.ok(chunks < 90, 'what was made is not made again')
  const wav = readFileSync(path('killed.wav'))
  assert.equal(wav, readFileSync(path('whole.wav')))
  assert.equal([wav.readUInt32LE(4), wav.readUInt32LE(40)], [wav.length - 8, wav.length - 44])
  assert.ok(parseWav(wav).samples.length > 40_000)
  assert.equal(leftovers(), [])
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
  assert.match(stderr, /Cannot write .*full\.wav: the file may not grow further/)
  assert.is((await run('short.txt', '-o', path('full.wav'))).code, 0)
  assert.is((await run('short.txt', '-o', path('unbroken.wav'))).code, 0)
  assert.equal(readFileSync(path('full.wav')), readFileSync(path('unbroken.wav')))
})

test.run()
