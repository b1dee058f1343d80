// With --all only: a terminal.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import {
  hasPseudoTerminal,
  openTerminal,
  processGone,
  type TestTerminal,
} from '../../helpers/program/pseudo-terminal.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completionEvents, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const inner = suite('the terminal after a command')
const test = hasPseudoTerminal ? inner : inner.skip

/** Ways in which a command at a terminal is ended from outside, and the exit code of each. */
const endings: readonly (readonly [name: string, end: (terminal: TestTerminal) => void, code: number])[] = [
  ['Ctrl-C', (terminal) => terminal.type('\x03'), 130],
  ['SIGINT', (terminal) => terminal.signal('SIGINT'), 130],
  ['SIGTERM', (terminal) => terminal.signal('SIGTERM'), 143],
  ['SIGHUP', (terminal) => terminal.signal('SIGHUP'), 129],
]

for (const [name, end, code] of endings) {
  test(`is as it was when ${name} ends a password prompt`, () =>
    withHome(async (home) => {
      const terminal = await openTerminal(home.folder, ['--local', 'setup', '--username', 'ada'])
      await terminal.shows(/Password/)
      terminal.type('half a pass')
      end(terminal)
      assert.equal(await terminal.ended(), { code, restored: true }, terminal.shown())
      // Inquirer hides the cursor while it draws: DECTCEM.
      assert.ok(terminal.shown().lastIndexOf('\x1b[?25h') >= terminal.shown().lastIndexOf('\x1b[?25l'))
    }))

  test(`is as it was when ${name} ends a single answer, whose request is given up`, () =>
    withHome(async (home) => {
      let left = () => {}
      const given = new Promise<void>((resolve) => {
        left = resolve
      })
      await using provider = await openStandIn((_request, response) => {
        response.on('close', () => left())
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(completionEvents(['Once upon a time']).slice(0, 2).join(''))
      })
      const plugin = JSON.stringify(pluginAt(provider.url))
      await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })
      const terminal = await openTerminal(home.folder, ['chat', 'hi'], { CUSTOM_API_KEY: 'sk-of-the-test' })
      await terminal.shows(/Once upon/)
      end(terminal)
      await given
      assert.equal(await terminal.ended(), { code, restored: true }, terminal.shown())
    }))
}

test('is as it was when SIGTERM ends speech that is played, and the player ends too', () =>
  withHome(async (home) => {
    const pid = join(home.folder, 'player-pid')
    const player = join(home.folder, 'paplay')
    writeFileSync(player, `#!/bin/sh\necho $$ > '${pid}'\ncat > /dev/null\necho playing > /dev/tty\nexec sleep 1000\n`)
    chmodSync(player, 0o755)
    const terminal = await openTerminal(home.folder, ['tts', '--play', 'Hello there.'], {
      PATH: `${home.folder}:${process.env['PATH']}`,
    })
    await terminal.shows(/playing/)
    terminal.signal('SIGTERM')
    assert.equal(await terminal.ended(), { code: 143, restored: true }, terminal.shown())
    await processGone(Number(readFileSync(pid, 'utf8')))
  }))

test('is as it was when a conversation ends by an unexpected error', () =>
  withHome(async (home) => {
    const crash = "process.once('SIGUSR2', () => { throw new Error('of the test') })"
    const terminal = await openTerminal(home.folder, ['chat', '--yes'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}`,
    })
    await terminal.shows(/Ctrl-D ends the conversation\.\s+> $/)
    terminal.signal('SIGUSR2')
    const { code, restored } = await terminal.ended()
    assert.ok(code !== 0 && restored, terminal.shown())
  }))

inner.run()

async function withHome(work: (home: Home) => Promise<void>): Promise<void> {
  using home = openFastHome()
  await work(home)
}
