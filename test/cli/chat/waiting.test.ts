// Some with --all only: a terminal.
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { hasPseudoTerminal } from '../../helpers/program/pseudo-terminal.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completionEvents, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { openShown, scene, sizes } from './talk-scene.ts'

const test = suite('the line of a chat that waits')

for (const size of sizes)
  test(`in ${size.join('×')} it tells seconds, step and model, and Ctrl-C leaves nothing of it`, () =>
    scene(async ({ talk }) => {
      const shown = await talk([], { size })
      shown.type('SILENT\r')
      await shown.until(/^\S \d+ s · thinking · custom:custom-mod/m)
      assert.is((await shown.screen()).filter((line) => / · thinking · /.test(line)).length, 1)
      shown.type('\x03')
      await shown.until(/stopped before the answer[\s\S]*\n> $/)
      assert.not.match((await shown.screen()).join('\n'), / · /)
      await shown.leave()
    }))

test('one question has it too, and an answer takes its place', () =>
  waits(async ({ ask, release }) => {
    const shown = await ask(['Hi'])
    await shown.until(/^\S \d+ s · thinking · custom:custom-model$/m)
    release()
    assert.equal(await shown.ended(), { code: 0, restored: true })
    assert.equal(await shown.screen(), ['Hello'])
  }))

test('a window that becomes narrower keeps nothing of it', () =>
  waits(async ({ ask, release }) => {
    const shown = await ask(['Hi'])
    await shown.until(/^\S \d+ s · thinking · custom:custom-model$/m)
    shown.resize(20, 10)
    release()
    await shown.ended()
    assert.equal(await shown.screen(), ['Hello'])
  }))

test('a provider that is asked again, and one that answers instead, are named', () =>
  waits(
    async ({ ask, release }) => {
      const shown = await ask(['Hi'])
      await shown.until(/ s · retry at first in \d+ s · /)
      await shown.until(/ s · (?:fallback, first failed|thinking) · second:/)
      release()
      await shown.until(/Hello\naichat: first failed: /)
    },
    { refuses: true },
  ))

for (const size of sizes)
  test(`--thinking shows the last lines of the thinking in ${size.join('×')}, and folds them away`, () =>
    waits(
      async ({ ask, release }) => {
        const shown = await ask(['--thinking', 'Hi'], { size })
        await shown.until(/^seventh, .*\n\S \d+ s · thinking · /m)
        const lines = await shown.screen()
        assert.ok(lines.length <= 5, lines.join('\n'))
        assert.not.match(lines.join('\n'), 'first, ')
        assert.match(shown.shown(), '\x1b[2mseventh, ')
        release()
        await shown.ended()
        const [thought, answer, ...rest] = await shown.screen()
        assert.match(thought!, /^thought for \d+ s$/)
        assert.equal([answer, rest], ['Hello', []])
      },
      { thinks: true },
    ))

test('without --thinking it is not shown, and in a pipe --thinking writes it to stderr', () =>
  waits(
    async ({ ask, release, home }) => {
      const shown = await ask(['Hi'])
      await shown.until(/ · thinking · /)
      release()
      await shown.ended()
      assert.equal(await shown.screen(), ['Hello'])
      const piped = await home.aichat(['chat', '--thinking', 'Hi'])
      assert.equal([piped.code, piped.stdout], [0, 'Hello\n'])
      assert.match(piped.stderr, /^first, [\s\S]*seventh, \S+\n$/)
    },
    { thinks: true },
  ))

test('/thinking shows and hides it, and /info counts its tokens', () =>
  waits(
    async ({ ask, release }) => {
      const shown = await ask([], { begun: /> $/ })
      shown.type('/thinking show\r')
      await shown.until(/thinking is shown from now on\n> $/)
      shown.type('Hi\r')
      await shown.until(/^seventh, .*\n\S \d+ s · thinking · /m)
      release()
      await shown.until(/thought for \d+ s\nHello\n\n?> $/)
      shown.type('/info\r')
      await shown.until(/received \(20 of them thinking\), in 1\s+answer[\s\S]*> $/)
      shown.type('/thinking hide\r')
      await shown.until(/hidden from now on\n> $/)
      await shown.leave()
    },
    { thinks: true },
  ))

for (const words of [['--quiet'], ['--json'], ['--plain']])
  test(`there is none with ${words.join(' ')}`, () =>
    waits(async ({ ask, release, begun }) => {
      const shown = await ask([...words, 'Hi'])
      await begun
      // The line would have been drawn before the end of its delay and of the answer behind it.
      setTimeout(release, 500)
      await shown.ended()
      assert.not.match(shown.shown(), / · /)
    }))

const atTerminal = hasPseudoTerminal ? test : test.skip
atTerminal.whole('Ctrl-C at a terminal of the system ends one question without a trace', () =>
  waits(async ({ ask }) => {
    const shown = await ask(['Hi'], { isProcess: true })
    await shown.until(/ · thinking · custom:custom-model/)
    shown.type('\x03')
    assert.is((await shown.ended()).code, 130)
    assert.not.match((await shown.screen()).join('\n'), / · |\^C/)
  }),
)

/** A chunk without its choices. */
const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'custom-model' }
const thoughts = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'].map((word) => `${word}, 雪`)

test.run()

interface Scene {
  readonly home: Home
  ask(
    words: readonly string[],
    options?: { readonly size?: readonly [number, number]; readonly isProcess?: boolean; readonly begun?: RegExp },
  ): ReturnType<typeof openShown>
  /** Lets the provider answer. */
  release(): void
  /** Resolves with the first request. */
  readonly begun: Promise<void>
}

/** A provider that begins to answer at once and says nothing until it is released; `refuses` puts one before it that is busy. */
async function waits(work: (scene: Scene) => Promise<void>, { refuses = false, thinks = false } = {}): Promise<void> {
  let release = () => {}
  let begin = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const provider = await openStandIn(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    const [first, ...events] = completionEvents(['Hello'])
    response.write(`${first}${thinks ? thinkingEvent() : ''}`)
    begin()
    await released
    response.end(thinks ? withUsage(events) : events.join(''))
  })
  const busy = await openStandIn((_request, response) => {
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' })
    response.end('{"error":{"message":"busy"}}')
  })
  const environment = { OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  const home = openFastHome(environment)
  const install = async (manifest: object, ...more: readonly string[]) =>
    assert.is((await home.aichat(['plugin', 'install', '-', ...more], { input: JSON.stringify(manifest) })).code, 0)
  try {
    const facts = { model_map: ['custom-model'] }
    if (refuses) {
      await install(pluginAt(provider.url, { ...facts, id: 'second' }))
      await install(pluginAt(busy.url, { ...facts, id: 'first', fallback: ['second'] }), '--activate')
    } else await install(pluginAt(provider.url, facts), '--activate')
    await work({
      home,
      async ask(words, { size = sizes[0]!, isProcess = false, begun: pattern = /^/ } = {}) {
        const shown = await openShown(home.folder, ['chat', ...words], environment, size, isProcess)
        await shown.until(pattern)
        return shown
      },
      release,
      begun,
    })
  } finally {
    release()
    await provider.close()
    await busy.close()
    home.remove()
  }
}

function thinkingEvent(): string {
  const choices = [{ index: 0, delta: { reasoning_content: thoughts.join('\n') }, finish_reason: null }]
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`
}

/** The events with the counts of tokens before the last one. */
function withUsage(events: readonly string[]): string {
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 23,
    total_tokens: 30,
    completion_tokens_details: { reasoning_tokens: 20 },
  }
  const counts = `data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\n`
  return [...events.slice(0, -1), counts, ...events.slice(-1)].join('')
}
