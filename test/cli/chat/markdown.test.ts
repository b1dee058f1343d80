import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome, openTerminalHere } from '../../helpers/program/terminal.ts'
import { completionEvents, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { scripted } from '../../helpers/providers/scripted-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('Markdown in the answers of aichat chat')
const answer = '# Title\n\nSome **bold** text.\n\n```js\nconst a = 1\n```\n\n- one\n- two\x1b]0;title\x07 &#27;[2J\n'
const environment = { CUSTOM_API_KEY: 'sk-of-the-test' }

test('is rendered at a terminal, streamed or whole', () =>
  withAnswer(async (home) => {
    for (const words of [
      ['chat', 'hi'],
      ['chat', '-S', 'hi'],
    ]) {
      const { code, stdout } = await home.aichat(words, { environment, shown: true } as object)
      assert.is(code, 0)
      assert.match(stdout, /\x1b\[1;4mTitle\x1b\[0m\n/)
      assert.match(stdout, /Some \x1b\[1mbold\x1b\[0m text\.\n/)
      assert.match(stdout, /\x1b\[35mconst\x1b\[0m a = \x1b\[33m1\x1b\[0m\n/)
      assert.not.match(stdout, /\x1b\]|\x07|\x1b\[2J/)
    }
  }))

test('is as the model wrote it in a pipe, with --plain, and without colour', () =>
  withAnswer(async (home) => {
    assert.is((await home.aichat(['chat', 'hi'], { environment })).stdout, answer)
    // A terminal gets no control characters of a model.
    const shown = answer.replace(/\x1b|\x07/g, '')
    for (const [words, more] of [
      [['--plain'], {}],
      [['--color', 'never'], {}],
      [[], { NO_COLOR: '1' }],
      [[], { TERM: 'dumb' }],
    ] as const) {
      const options = { environment: { ...environment, ...more }, shown: true } as object
      assert.is((await home.aichat(['chat', ...words, 'hi'], options)).stdout, shown, JSON.stringify([words, more]))
    }
  }))

test('is rendered in a conversation, whose transcript looks the same', () =>
  withAnswer(async (home) => {
    const terminal = openTerminalHere(['chat'], {
      AICHAT_HOME: home.folder,
      HOME: home.folder,
      OLLAMA_HOST: '127.0.0.1:9',
      ...environment,
    })
    await terminal.shows(/> $/)
    terminal.type('hi\r')
    await terminal.shows(/• two.*> $/s)
    terminal.type('\x04')
    assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
    assert.match(terminal.shown(), /\x1b\[1;4mTitle\x1b\[0m\r\n/)
    const [session] = JSON.parse((await home.aichat(['session', 'list', '--json'])).stdout).sessions
    const { stdout } = await home.aichat(['session', 'show', session.id], { shown: true } as object)
    assert.match(stdout, /^\x1b\[1m> hi\x1b\[22m.*\x1b\[1;4mTitle\x1b\[0m\n.*\x1b\[2m\S+ · custom · /s)
  }))

test('keeps what was said when Ctrl-C stops it in the middle of a block', () =>
  withHome(async (home) => {
    await using provider = await openStandIn((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(completionEvents(['- one\n- two **bo', 'ld']).slice(0, 2).join(''))
    })
    const plugin = JSON.stringify(pluginAt(provider.url))
    await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })
    const terminal = openTerminalHere(['chat'], {
      AICHAT_HOME: home.folder,
      HOME: home.folder,
      OLLAMA_HOST: '127.0.0.1:9',
      ...environment,
    })
    await terminal.shows(/> $/)
    terminal.type('hi\r')
    await terminal.shows(/• two \*\*bo/)
    terminal.type('\x03')
    await terminal.shows(/stopped; the text so far stays part of the conversation\s[\s\S]*> $/)
    terminal.type('\x04')
    assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
    assert.match(terminal.shown(), /\*\*bo\r\n(?:\x1b\[[?\w;]+|\r)*aichat: stopped/)
  }))

test.run()

async function withAnswer(work: (home: Home) => Promise<void>): Promise<void> {
  await withHome(async (home) => {
    await using provider = await openStandIn(scripted([answer]))
    const plugin = JSON.stringify(pluginAt(provider.url))
    await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })
    await work(home)
  })
}

async function withHome(work: (home: Home) => Promise<void>): Promise<void> {
  using home = openFastHome()
  await work(home)
}
