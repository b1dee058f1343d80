import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { closing } from '../../helpers/disposal.ts'
import { callApi } from '../../helpers/program/daemon.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import type { TestTerminal } from '../../helpers/program/pseudo-terminal.ts'
import { openTerminalHere } from '../../helpers/program/terminal.ts'
import { completionEvents, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a conversation')

/** The prompt, with nothing typed behind it. */
const prompt = /> $/

test('Ctrl-C empties a line that is being typed; on an empty line it leaves the second time', () =>
  scene(async ({ talk, provider }) => {
    const terminal = await talk()
    terminal.type('never mind')
    await terminal.shows(/never mind$/)
    terminal.type('\x03')
    await terminal.shows(prompt)
    terminal.type('\x03')
    await terminal.shows(/Ctrl-C again, or Ctrl-D, ends the conversation\.\s+> $/)
    terminal.type('x\x7f\x03')
    await terminal.shows(/Ctrl-C again, or Ctrl-D, ends the conversation\.\s+> $/)
    terminal.type('\x03')
    assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
    assert.is(provider.received.length, 0)
  }))

test('pasted lines are one message, sent with Enter', () =>
  scene(async ({ talk, messages, provider }) => {
    const terminal = await talk()
    terminal.type('Explain: \x1b[200~first\r\nsecond\rthird \x1b[31mred\n\x1b[201~')
    await terminal.shows(/third/)
    assert.is(provider.received.length, 0)
    terminal.type('!\r')
    await terminal.shows(/short answer[\s\S]*> $/)
    assert.equal(messages(), [['user', 'Explain: first\nsecond\nthird [31mred!']])
    terminal.type('\x04')
    assert.equal(await terminal.ended(), { code: 0, restored: true })
  }))

test('text typed and pasted during an answer is read after it, line by line', () =>
  scene(async ({ talk, provider, messages }) => {
    const terminal = await talk()
    terminal.type('SILENT\r')
    await provider.asked
    terminal.type('one\r\x1b[200~two\nthree\x1b[201~\r')
    provider.answer('late answer')
    await terminal.shows(/late answer[\s\S]*short answer[\s\S]*short answer[\s\S]*> $/)
    assert.equal(
      messages().filter(([role]) => role === 'user'),
      [
        ['user', 'SILENT'],
        ['user', 'one'],
        ['user', 'two\nthree'],
      ],
    )
    terminal.type('\x04')
    assert.is((await terminal.ended()).code, 0)
  }))

test('wide characters are edited as they are shown, and earlier questions come back with the arrow', () =>
  scene(async ({ talk, messages }) => {
    const terminal = await talk()
    terminal.type('你好🙂e\x7f\x1b[D\x7f吗\r')
    await terminal.shows(/short answer[\s\S]*> $/)
    assert.equal(messages(), [['user', '你吗🙂']])
    terminal.type('\x1b[A!\r')
    await terminal.shows(/short answer[\s\S]*> $/)
    assert.equal(messages().at(-1), ['user', '你吗🙂!'])
    terminal.type('\x04')
    assert.is((await terminal.ended()).code, 0)
  }))

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)
  test(`${signal} ends it with exit ${code} and restores the terminal, and keeps the answer so far`, () =>
    scene(async ({ talk, provider, sessions, stored }) => {
      const idle = await talk()
      idle.signal(signal)
      assert.equal(await idle.ended(), { code, restored: true }, idle.shown())
      assert.equal(await sessions(), [], 'an empty conversation is not kept')
      const busy = await talk()
      busy.type('ENDLESS\r')
      await busy.shows(/Once upon/)
      busy.signal(signal)
      assert.equal(await busy.ended(), { code, restored: true }, busy.shown())
      await provider.left
      assert.equal(
        (await stored()).map(({ role, content, cut = false }) => [role, content, cut]),
        [
          ['user', 'ENDLESS', false],
          ['assistant', 'Once upon a time', true],
        ],
      )
    }))

test('--timeout is for each answer', () =>
  scene(async ({ talk, messages }) => {
    const terminal = await talk(['--timeout', '2s'])
    for (let round = 0; round < 2; round++) {
      terminal.type('SILENT\r')
      await terminal.shows(/No answer within 2s[\s\S]*> $/)
    }
    terminal.type('again\r')
    await terminal.shows(/short answer[\s\S]*> $/)
    assert.equal(messages(), [['user', 'again']])
    terminal.type('\x04')
    assert.is((await terminal.ended()).code, 0)
  }))

test('a dumb terminal is sent no control sequences', () =>
  scene(async ({ talk }) => {
    // readline looks at the terminal of the process.
    const { TERM } = process.env
    process.env['TERM'] = 'dumb'
    try {
      const terminal = await talk([], { TERM: 'dumb' })
      terminal.type('hello\r')
      await terminal.shows(/short answer[\s\S]*> $/)
      terminal.type('\x04')
      assert.equal(await terminal.ended(), { code: 0, restored: true })
      assert.not.match(terminal.shown(), /\x1b/)
    } finally {
      if (TERM === undefined) delete process.env['TERM']
      else process.env['TERM'] = TERM
    }
  }))

test.run()

interface Provider extends StandIn {
  /** Resolves when a request has come that is not answered by itself. */
  readonly asked: Promise<unknown>
  /** Resolves when a client disconnects during its answer. */
  readonly left: Promise<unknown>
  /** Answers the request that waits. */
  answer(text: string): void
}

interface Scene {
  readonly provider: Provider
  /** A conversation with its first prompt shown. */
  talk(words?: readonly string[], environment?: Record<string, string>): Promise<TestTerminal>
  /** Role and content of the messages of the last request. */
  messages(): (readonly [string, string])[]
  // biome-ignore lint/suspicious/noExplicitAny: answers of the API
  sessions(): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: answers of the API
  stored(): Promise<any[]>
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const signal = () => {
    let happen = () => {}
    const happened = new Promise<void>((resolve) => {
      happen = resolve
    })
    return { happen, happened }
  }
  const [asked, left] = [signal(), signal()]
  let waiting: ServerResponse | undefined
  const stand = await openStandIn((request, response) => {
    const last = JSON.parse(request.body).messages.at(-1).content as string
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    once(response, 'close').then(() => request.cancelled && left.happen())
    if (last.includes('ENDLESS'))
      return void response.write(completionEvents(['Once upon a time']).slice(0, 2).join(''))
    if (!last.includes('SILENT')) return void response.end(completionEvents(['short ', 'answer']).join(''))
    waiting = response
    asked.happen()
  })
  await using provider = closing(
    Object.assign(stand, {
      asked: asked.happened,
      left: left.happened,
      answer: (text: string) => void waiting!.end(completionEvents([text]).join('')),
    }),
  )
  await using installation = openInstallation()
  const { home } = installation
  await installation.app.plugins.install(pluginAt(provider.url))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  const get = async (path: string) => (await callApi(url)('GET', path)).body
  const sessions = async () => (await get('/api/sessions')).sessions
  await work({
    provider,
    async talk(words = [], more = {}) {
      const terminal = openTerminalHere(['chat', ...words], { ...environment, ...more })
      await terminal.shows(/Ctrl-D ends the conversation\.\s+> $/)
      return terminal
    },
    messages: () =>
      JSON.parse(provider.received.at(-1)!.body).messages.map(({ role, content }: Record<string, string>) => [
        role,
        content,
      ]),
    sessions,
    stored: async () => (await get(`/api/sessions/${(await sessions())[0].id}`)).messages,
  })
}
