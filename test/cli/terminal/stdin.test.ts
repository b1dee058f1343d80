// Some with --all only: many processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { terminated } from '../../../src/cli/terminal/io.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { openFastHome, runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('reading stdin')
const home = openFastHome()
const environment = { AICHAT_HOME: home.folder, HOME: home.folder, OLLAMA_HOST: '127.0.0.1:9' }
test.after(() => home.remove())

/** Commands that read stdin, with the arguments for it. */
const readers: readonly (readonly string[])[] = [
  ['chat', 'hi'],
  ['chat', '-'],
  ['chat', '-f', '-', 'hi'],
  [],
  ['tts', '-o', '/dev/null'],
  ['tts', '-i', '-', '-o', '/dev/null'],
  ['plugin', 'install', '-'],
  ['plugin', 'validate', '-'],
  ['persona', 'import', '-'],
  ['persona', 'verify', '-'],
  ['persona', 'memory', 'add', 'Ada', '-'],
  ['persona', 'adapt', 'Ada', '--type', 'weight_adjusted', '--trigger', 'explicit_instruction', '--changes', '-'],
  ['setup', '--username', 'ada', '--password-stdin'],
  ['login', 'http://127.0.0.1:9', '--token-stdin', '--insecure-storage'],
]

/** A stdin that never ends, and an event when it is read. */
function endless(): { readonly stdin: Readable; readonly read: Promise<void> } {
  let stdin: Readable | undefined
  const read = new Promise<void>((resolve) => {
    stdin = new Readable({ read: () => resolve() })
  })
  return { stdin: stdin!, read }
}

test('every command that reads stdin ends with SIGTERM while stdin stays open', async () => {
  for (const words of readers) {
    const { stdin, read } = endless()
    const signals = new AbortController()
    const ended = runMain(words, { environment, stdin, signal: signals.signal })
    await Promise.race([read, ended])
    signals.abort(terminated)
    assert.is((await ended).code, 143, words.join(' '))
  }
})

test('--timeout ends it with exit 75', async () => {
  for (const words of [
    ['chat', 'hi'],
    ['persona', 'import', '-'],
  ]) {
    const { code, stderr } = await runMain([...words, '--timeout', '10ms'], { environment, stdin: endless().stdin })
    assert.equal([code, stderr], [75, 'aichat: Standard input did not end within the time of --timeout 10ms\n'])
  }
})

test.whole('a process says after some silence that it waits, and ends with SIGTERM and Ctrl-C', async () => {
  const ends = [
    [['chat', 'hi'], 'SIGTERM', 143],
    [['persona', 'import', '-'], 'SIGINT', 130],
  ] as const
  await Promise.all(
    ends.map(async ([words, signal, code]) => {
      const { child, ended } = start(words)
      assert.ok(await says(child, /waiting for standard input to end/))
      child.kill(signal)
      assert.equal(await ended, [code, null])
    }),
  )
})

test('a stdin that is closed is an empty one', async () => {
  const { child, ended } = start(['chat', '-'], '<&-')
  assert.ok(await says(child, /Nothing to ask/))
  assert.equal(await ended, [64, null])
})

test('a text is read as its byte order mark says, without it, and stray bytes are named', async () => {
  const asked = async (input: Uint8Array) => {
    const { code, stdout, stderr } = await home.aichat(['chat', '--dry-run', '-m', 'openai:gpt-4.1-mini'], { input })
    return code === 0 ? [JSON.parse(stdout).body.messages[0].content, stderr] : [code, stderr]
  }
  const utf16 = Buffer.from('\ufeffEs hält \u{1f44d}', 'utf16le')
  assert.equal(await asked(utf16), ['Es hält \u{1f44d}', ''])
  assert.equal(await asked(Buffer.from(utf16).swap16()), ['Es hält \u{1f44d}', ''])
  assert.equal(await asked(Buffer.from('\ufeffHi\r\nthere\r\n')), ['Hi\r\nthere', ''])
  const [stray, said] = await asked(Buffer.from('caf\xe9', 'latin1'))
  assert.is(stray, 'caf\ufffd')
  assert.match(said, /^aichat: Standard input is not all UTF-8: .*iconv/)
  const [code, refused] = await asked(Buffer.from('a\0b'))
  assert.is(code, 65)
  assert.match(refused, /^aichat: Standard input is no text\n/)
})

test.whole('speech, memories and passwords read their texts likewise', async () => {
  const both = async (words: readonly string[], text: string) => {
    const plain = await home.aichat(words, { input: text })
    const marked = await home.aichat(words, { input: Buffer.from(`\ufeff${text}`, 'utf16le') })
    assert.is(plain.code, 0, plain.stderr)
    assert.equal(marked, plain, words.join(' '))
    assert.is((await home.aichat(words, { input: 'a\0b' })).code, 65, words.join(' '))
  }
  await both(['tts'], 'Hello.')
  await both(['tts', '-i', '-'], 'Hello.')
  const password = Buffer.from('\ufeffPassw0rd\r\n')
  assert.is((await home.aichat(['setup', '--username', 'ada', '--password-stdin'], { input: password })).code, 0)
})

test.run()

interface Started {
  readonly child: ChildProcess
  /** Its exit code and signal; its end may be seen before its last words. */
  readonly ended: Promise<readonly unknown[]>
}

/** Starts the command with a stdin that never ends. */
function start(words: readonly string[], redirection = ''): Started {
  const command = `exec ${[...aichatCommand, ...words].map((word) => `'${word}'`).join(' ')} ${redirection}`
  const child = spawn('sh', ['-c', command], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  return { child, ended: once(child, 'exit') }
}

/** True when stderr matches before the command ends. */
async function says(child: ChildProcess, pattern: RegExp): Promise<boolean> {
  let said = ''
  for await (const text of child.stderr!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text
    if (pattern.test(said)) return true
  }
  return false
}
