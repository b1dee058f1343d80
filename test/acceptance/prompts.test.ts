import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand } from '../command.ts'
import { suite } from '../suite.ts'

const test = suite('questions at a terminal')

/** util-linux's `script` gives a command a terminal of its own. */
const withTerminal = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0 ? test : test.skip

withTerminal('a password is asked twice on the terminal, never shown, and the result alone is on stdout', async () => {
  const home = mkdtempSync(join(tmpdir(), 'aichat-terminal-'))
  const { code, shown, stdout } = await converse(
    home,
    ['setup'],
    [
      [/Username/, 'ada'],
      [/Password(?! \(again\))/, 'Passw0rd-canary'],
      [/Password \(again\)/, 'Passw0rd-canary'],
    ],
  )
  assert.is(code, 0, shown)
  assert.is(stdout, 'ada\n')
  assert.match(shown, /ada is the administrator/)
  assert.not.match(shown, /canary/)
  rmSync(home, { recursive: true, force: true })
})

withTerminal('two passwords that differ change nothing', async () => {
  const home = mkdtempSync(join(tmpdir(), 'aichat-terminal-'))
  const { code, shown } = await converse(
    home,
    ['setup', '--username', 'ada'],
    [
      [/Password(?! \(again\))/, 'Passw0rd-one'],
      [/Password \(again\)/, 'Passw0rd-two'],
    ],
  )
  assert.is(code, 64)
  assert.match(shown, /do not match/)
  assert.not.match(shown, /Passw0rd-/)
  assert.not.ok(existsSync(join(home, 'aichat.db')))
  rmSync(home, { recursive: true, force: true })
})

withTerminal('Ctrl-C at a question ends the command with 130, and nothing is done', async () => {
  const home = mkdtempSync(join(tmpdir(), 'aichat-terminal-'))
  const { code } = await converse(home, ['setup'], [[/Username/, '\x03']])
  assert.is(code, 130)
  assert.not.ok(existsSync(join(home, 'aichat.db')))
  rmSync(home, { recursive: true, force: true })
})

withTerminal('--no-input asks nothing, also at a terminal', async () => {
  const home = mkdtempSync(join(tmpdir(), 'aichat-terminal-'))
  const { code, shown } = await converse(home, ['--no-input', 'setup', '--username', 'ada'], [])
  assert.is(code, 64)
  assert.match(shown, /--password-stdin/)
  rmSync(home, { recursive: true, force: true })
})

test.run()

/** Runs a command at a terminal, its stdout in a file, and answers its questions as they appear. */
async function converse(
  home: string,
  words: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<{ code: number | null; shown: string; stdout: string }> {
  const file = join(home, 'stdout')
  const command = `${[...aichatCommand, ...words].map((word) => `'${word}'`).join(' ')} > '${file}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let waiting = [...answers]
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const [question, answer] = waiting[0] ?? []
    if (!question?.test(plain(shown.slice(seen)))) return
    seen = shown.length
    waiting = waiting.slice(1)
    child.stdin.write(answer === '\x03' ? answer : `${answer}\r`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, shown: plain(shown), stdout: readFileSync(file, 'utf8') }
}

/** What a terminal shows, without what moves its cursor and colours it. */
function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
}
