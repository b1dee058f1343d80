// With --all only: a terminal.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { emptyOllama, goodKey, openScene, speaksOpenAi } from '../cli/setup/scene.ts'

import { hasPseudoTerminal, openTerminal, plain } from '../helpers/program/pseudo-terminal.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a person from an empty home to the first answer')
const withTerminal = hasPseudoTerminal ? test : test.skip

const enter = '\r'
const down = '\x1b[B'
const up = '\x1b[A'

type Step = readonly [shown: RegExp, keys: string]

/** Types at a terminal of the system; the keys that a person presses, a pasted text as one, are counted. */
async function person(
  home: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  steps: readonly Step[],
) {
  const terminal = await openTerminal(home, words, environment)
  for (const [shown, keys] of steps) {
    await terminal.shows(shown)
    terminal.type(keys)
  }
  const { code, restored } = await terminal.ended()
  assert.ok(restored)
  return { code, shown: plain(terminal.shown()) }
}

const withKey: readonly Step[] = [
  [/Who shall answer\?/, enter],
  [/Paste the key/, `${goodKey}${enter}`],
  [/Which model answers\?[\s\S]*gpt-4o/, enter],
]

withTerminal('with a key: three answers, then the question that was typed', async () => {
  await using scene = await openScene()
  const { code, shown } = await person(scene.home, ['What is a monad?'], scene.environment, withKey)
  assert.is(code, 0, shown)
  assert.match(shown, /gpt-4\.1-mini heard: What is a monad\?/)
  assert.not.match(shown, 'canary')
})

withTerminal('with Ollama that has a model: no question at all', async () => {
  const answer = emptyOllama()
  await using ollama = await openStandIn(answer)
  await using scene = await openScene()
  const environment = { ...scene.environment, OLLAMA_HOST: ollama.host }
  const first = await person(scene.home, [], environment, [
    [/Ollama on this machine, with a model to download/, `${down}${enter}`],
    [/Which model shall Ollama download\?/, enter],
    [/Ask something[\s\S]*> /, `hello${enter}`],
    [/local answer[\s\S]*> /, '\x04'],
  ])
  assert.is(first.code, 0, first.shown)
  const { code, shown } = await person(scene.home, ['hello again'], environment, [])
  assert.is(code, 0, shown)
  assert.match(shown, /local answer/)
})

withTerminal('with an address, and with nothing', async () => {
  await using scene = await openScene(speaksOpenAi(undefined, [{ id: 'only' }]))
  const nothing = await person(scene.home, ['hello there'], scene.environment, [
    [/Who shall answer\?/, `${up}${enter}`],
  ])
  assert.is(nothing.code, 69)
  const { code, shown } = await person(scene.home, ['hello there'], scene.environment, [
    [/Who shall answer\?/, `${down}${enter}`],
    [/Its address/, `${scene.provider.host}${enter}`],
  ])
  assert.is(code, 0, shown)
  assert.match(shown, /only heard: hello there/)
})

withTerminal('a keychain that is locked, and asks nobody, gives way to the file, which is said', async () => {
  await using scene = await openScene()
  // A bus that never answers, as that of a locked keychain without a person at its screen.
  const mute = createServer((socket) => socket.resume()).listen(join(scene.home, 'bus'))
  await once(mute, 'listening')
  const environment = { ...scene.environment, DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(scene.home, 'bus')}` }
  const { code, shown } = await person(scene.home, ['setup'], environment, withKey)
  mute.close()
  assert.is(code, 0, shown)
  assert.match(shown, /secrets\.json, which only you can read: no keychain works here/)
  assert.ok(existsSync(join(scene.home, 'secrets.json')))
})

withTerminal('Ctrl-C while the provider is asked ends with 130, and keeps nothing', async () => {
  await using scene = await openScene(() => {})
  const { code } = await person(scene.home, ['setup'], scene.environment, [
    ...withKey.slice(0, 2),
    [/asking 127\.0\.0\.1:\d+ for its models/, '\x03'],
  ])
  assert.is(code, 130)
  assert.not.ok(existsSync(join(scene.home, 'secrets.json')))
})

withTerminal('in a pipe nothing asks: the help, and the failure as it was', async () => {
  await using scene = await openScene()
  const options = { redirections: '< /dev/null 2> err > out' }
  const help = await openTerminal(scene.home, [], scene.environment, { redirections: '> out' })
  assert.is((await help.ended()).code, 0)
  const asked = await openTerminal(scene.home, ['chat', 'hi'], scene.environment, options)
  assert.is((await asked.ended()).code, 69)
})

test.run()
