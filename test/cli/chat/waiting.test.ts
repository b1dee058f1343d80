import * as assert from 'uvu/assert'
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
atTerminal('Ctrl-C at a terminal of the system ends one question without a trace', () =>
  waits(async ({ ask }) => {
    const shown = await ask(['Hi'], true)
    await shown.until(/ · thinking · custom:custom-model/)
    shown.type('\x03')
    assert.is((await shown.ended()).code, 130)
    assert.not.match((await shown.screen()).join('\n'), / · |\^C/)
  }),
)

test.run()

interface Scene {
  ask(words: readonly string[], isProcess?: boolean): ReturnType<typeof openShown>
  /** Lets the provider answer. */
  release(): void
  /** Resolves with the first request. */
  readonly begun: Promise<void>
}

/** A provider that begins to answer at once and says nothing until it is released; `refuses` puts one before it that is busy. */
async function waits(work: (scene: Scene) => Promise<void>, { refuses = false } = {}): Promise<void> {
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
    begin()
    await released
    response.end(completionEvents(['Hello']).join(''))
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
      ask: (words, isProcess = false) => openShown(home.folder, ['chat', ...words], environment, sizes[0]!, isProcess),
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
