// With --all only: a terminal.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../../helpers/eventually.ts'
import { openHome } from '../../helpers/program/command.ts'
import {
  hasPseudoTerminal,
  openTerminal,
  processGone,
  type TerminalOptions,
} from '../../helpers/program/pseudo-terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const inner = suite('a command whose terminal closes')
const test = hasPseudoTerminal ? inner : inner.skip

/** Ways to start a daemon that outlives its terminal; LOG stands for a file. */
const lasting: Readonly<Record<string, TerminalOptions>> = {
  'by nohup': { redirections: '> LOG 2>&1 < /dev/null', script: (run) => `nohup ${run}` },
  'without stdin, its log on the terminal': { redirections: '< /dev/null' },
  'without stdin, its log in a file': { redirections: '> LOG 2>&1 < /dev/null' },
}

for (const [title, options] of Object.entries(lasting))
  test(`is a daemon that goes on, started ${title}`, () =>
    serving(options, async ({ url, pid, hangUp }) => {
      await hangUp()
      // Each request logs a line, possibly to a closed terminal.
      for (let round = 0; round < 3; round++) assert.is((await fetch(`${url}/api/plugins`)).status, 401)
      process.kill(pid, 'SIGHUP')
      assert.is((await fetch(`${url}/health`)).status, 200)
      process.kill(pid, 'SIGTERM')
      await processGone(pid)
    }))

test('is a daemon that ends with it, where the terminal is its stdin', () =>
  serving({}, async ({ pid, hangUp }) => {
    await hangUp()
    await processGone(pid)
  }))

test('is any command by nohup, which goes on to its end', async () => {
  let answer = () => {}
  let asked = () => {}
  const begun = new Promise<void>((resolve) => {
    asked = resolve
  })
  await using provider = await openStandIn((_request, response) => {
    answer = () => void response.end('{"models":[]}')
    asked()
  })
  using home = openHome()
  const log = join(home.folder, 'log')
  const terminal = await openTerminal(
    home.folder,
    ['status'],
    { OLLAMA_HOST: provider.url },
    { redirections: `> '${log}' 2>&1 < /dev/null`, script: (run) => `nohup ${run}` },
  )
  await begun
  const { pid } = terminal
  terminal.hangUp()
  await terminal.ended()
  answer()
  await processGone(pid)
  assert.match(readFileSync(log, 'utf8'), /^mode +local/)
})

inner.run()

interface Serving {
  readonly url: string
  readonly pid: number
  hangUp(): Promise<void>
}

async function serving(options: TerminalOptions, work: (daemon: Serving) => Promise<void>): Promise<void> {
  const home = openHome()
  const log = join(home.folder, 'log')
  const terminal = await openTerminal(
    home.folder,
    ['serve', 'api', '--port', '0'],
    { OLLAMA_HOST: '127.0.0.1:9', AICHAT_LOG_LEVEL: 'debug' },
    { ...options, redirections: (options.redirections ?? '').replace('LOG', `'${log}'`) },
  )
  const said = () => terminal.shown() + (existsSync(log) ? readFileSync(log, 'utf8') : '')
  const listening = /serves the API on (http:\/\/[\d.]+:\d+)/
  let pid: number | undefined
  try {
    await until(() => listening.test(said()))
    pid = terminal.pid
    await work({
      url: listening.exec(said())![1]!,
      pid,
      async hangUp() {
        terminal.hangUp()
        await terminal.ended()
      },
    })
    pid = undefined
  } finally {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    home.remove()
  }
}
