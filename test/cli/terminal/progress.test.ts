import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome, type RunMainOptions, runMain } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('progress on stderr')

test('work of more than a second tells its time at a terminal, and the line is gone before the answer', () =>
  withSlow(async ({ ask, release }) => {
    const written: string[] = []
    const { code, stdout } = await ask(['chat', '-S', 'Hi'], {
      shown: true,
      heard(_name, text) {
        written.push(text)
        // A busy machine may leave a second out.
        if (/(?!0 s)\d+ s · connecting/.test(text)) release()
      },
    })
    assert.equal([code, stdout], [0, 'Hello\n'])
    const last = written.findLastIndex((text) => text.includes(' · '))
    assert.match(written[0]!, /^\x1b\[\?2026h\r\S \d+ s · connecting/)
    assert.is(written[last + 1], '\r\x1b[J', 'the line is cleared')
    assert.is(written[last + 2], 'Hello\n')
  }))

test('there is none in a pipe, and none with --quiet, --json, in CI and on a dumb terminal', () =>
  withSlow(async ({ ask, release }) => {
    release()
    const cases: readonly (readonly [readonly string[], RunMainOptions])[] = [
      [[], {}],
      [['--quiet'], { shown: true }],
      [['--json'], { shown: true }],
      [[], { shown: true, environment: { CI: '1' } }],
      [[], { shown: true, environment: { TERM: 'dumb' } }],
    ]
    for (const [words, options] of cases) {
      const { code, stderr } = await ask([...words, 'chat', '-S', 'Hi'], options)
      assert.equal([code, stderr], [0, ''])
    }
  }))

test.run()

interface Scene {
  ask(words: readonly string[], options?: RunMainOptions): ReturnType<typeof runMain>
  /** Lets the provider answer. */
  release(): void
}

async function withSlow(run: (scene: Scene) => Promise<void>): Promise<void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const stand: StandIn = await openStandIn(async (_request, response) => {
    await released
    json(response, 200, completion('Hello'))
  })
  const home = openFastHome()
  const environment = { AICHAT_HOME: home.folder, HOME: home.folder, CUSTOM_API_KEY: 'k-0123456789', TERM: 'xterm' }
  try {
    await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
    await run({
      ask: (words, options = {}) =>
        runMain(words, { ...options, environment: { ...environment, ...options.environment } }),
      release,
    })
  } finally {
    release()
    await stand.close()
    home.remove()
  }
}
