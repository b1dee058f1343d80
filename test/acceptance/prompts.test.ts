// With --all only: a terminal.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { goodPassword, withDaemon } from '../helpers/program/daemon.ts'
import { converse, hasPseudoTerminal, openTerminal } from '../helpers/program/pseudo-terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('questions at a terminal')

const withTerminal = hasPseudoTerminal ? test : test.skip

withTerminal('a password is asked twice on the terminal, never shown, and the result alone is on stdout', async () => {
  const home = temporaryFolder()
  const { code, shown, stdout } = await converse(
    home,
    ['setup', '--account'],
    [
      [/Username/, 'ada'],
      [/Password(?! \(again\))/, 'Passw0rd-canary'],
      [/Password \(again\)/, 'Passw0rd-canary'],
    ],
  )
  assert.is(code, 0, shown)
  assert.is(stdout, 'ada\n')
  assert.match(shown, /ada is the administrator/)
  assert.match(shown, /6 characters.*uppercase.*lowercase.*digit[\s\S]*Password/)
  assert.not.match(shown, /canary/)
  rmSync(home, { recursive: true, force: true })
})

withTerminal('two passwords that differ change nothing', async () => {
  const home = temporaryFolder()
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
  const home = temporaryFolder()
  const { code } = await converse(home, ['setup', '--account'], [[/Username/, { keys: '\x03' }]])
  assert.is(code, 130)
  assert.not.ok(existsSync(join(home, 'aichat.db')))
  rmSync(home, { recursive: true, force: true })
})

withTerminal('--no-input asks nothing, also at a terminal', async () => {
  const home = temporaryFolder()
  const { code, shown } = await converse(home, ['--no-input', 'setup', '--username', 'ada'], [])
  assert.is(code, 64)
  assert.match(shown, /--password-stdin/)
  rmSync(home, { recursive: true, force: true })
})

withTerminal('in a conversation the answer to a question of ours is no question to the model', async () => {
  const home = temporaryFolder()
  const { code, shown } = await converse(
    home,
    ['chat'],
    [
      [/Who shall answer/, { keys: '\x1b[A\r' }],
      [/> /, 'hello'],
      [/start a local runner/, { keys: '\x04' }],
    ],
  )
  assert.is(code, 0, shown)
  assert.is(shown.split('start a local runner').length - 1, 1, shown)
  rmSync(home, { recursive: true, force: true })
})

withTerminal('login without a keychain asks whether a file may keep the token; the password is typed once', () =>
  withDaemon(async (daemon) => {
    await daemon.register('ada')
    const home = temporaryFolder()
    const login = async (answer: string) => {
      const terminal = await openTerminal(home, ['login', daemon.url, '--username', 'ada'], {
        DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
      })
      await terminal.shows(/Password/)
      terminal.type(`${goodPassword}\r`)
      await terminal.shows(/Keep the token in a file that only you can read\?/)
      terminal.type(`${answer}\r`)
      return (await terminal.ended()).code
    }
    assert.is(await login('n'), 69)
    assert.not.ok(existsSync(join(home, 'tokens.json')))
    assert.is((await daemon.accounts.users.counts()).active_sessions, 1, 'the login that could not be kept has ended')
    assert.is(await login('y'), 0)
    assert.ok(existsSync(join(home, 'tokens.json')))
    rmSync(home, { recursive: true, force: true })
  }),
)

test.run()
