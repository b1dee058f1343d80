import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { plain } from '../../helpers/program/pseudo-terminal.ts'
import { openTerminalHere, runMain, type TerminalHere } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { openShown, sizes } from '../chat/talk-scene.ts'
import { emptyOllama, goodKey, openScene, type Scene, speaksOpenAi } from './scene.ts'

const test = suite('from nothing to an answer, by questions at a terminal')

const enter = '\r'
const down = '\x1b[B'
const up = '\x1b[A'
const interrupt = '\x03'
const endOfText = '\x04'

type Step = readonly [shown: RegExp, keys: string]

const byKey: readonly Step[] = [
  [/Who shall answer\?[\s\S]*A provider that I have a key for/, enter],
  [/Paste the key/, `${goodKey}${enter}`],
  [/Which model answers\?[\s\S]*gpt-4\.1-mini +1,047,576 tokens +\$0\.4 in, \$1\.6 out[\s\S]*gpt-4o/, enter],
]

/** Answers the questions of a command; Ctrl-C ends it after the last one where `interrupted` names what is seen then. */
async function typed(
  words: readonly string[],
  { environment }: Pick<Scene, 'environment'>,
  steps: readonly Step[],
): Promise<{ readonly code: number; readonly shown: string; readonly terminal: TerminalHere }> {
  const terminal = openTerminalHere(words, environment)
  for (const [shown, keys] of steps) {
    await terminal.shows(shown)
    terminal.type(keys)
  }
  const { code, restored } = await terminal.ended()
  assert.ok(restored)
  return { code, shown: plain(terminal.shown()), terminal }
}

/** Nothing of a set-up is on the disk. */
function assertNothingKept({ home, read }: Scene): void {
  for (const name of ['secrets.json', 'keychain.json', 'config.json'])
    assert.not.ok(existsSync(join(home, name)), `${name}: ${read(name)}`)
  assert.is(read('plugins/openai.json').includes('models_as_of": "20'), true)
  assert.not.match(read('plugins/openai.json'), 'listed')
}

test('a question where nothing is set up is answered after a key and a model', async () => {
  await using scene = await openScene()
  const { code, shown } = await typed(['chat', 'What is a monad?'], scene, byKey)
  assert.is(code, 0)
  assert.match(shown, /gpt-4\.1-mini heard: What is a monad\?/)
  assert.not.match(shown, 'canary')
  assert.match(shown, /kept in \S+secrets\.json, which only you can read: no keychain works here/)
  assert.is(statSync(join(scene.home, 'secrets.json')).mode & 0o777, 0o600)

  const next = await runMain(['Again please'], scene)
  assert.equal([next.code, next.stdout], [0, 'gpt-4.1-mini heard: Again please\n'])
})

for (const size of sizes)
  test(`each question fits a window of ${size.join('×')}, and leaves one line or two of itself`, async () => {
    await using scene = await openScene()
    const shown = await openShown(scene.home, ['setup'], scene.environment, size, false)
    for (const [at, keys] of [enter, `${goodKey}${enter}`, enter].entries()) {
      await shown.until([/answer\?\n❯ A provider/, /Paste the key/, /Which model answers\?[\s\S]*❯ gpt-4\.1-mini/][at]!)
      shown.type(keys)
    }
    assert.equal(await shown.ended(), { code: 0, restored: true })
    const screen = (await shown.screen()).join('\n')
    for (const question of ['Who shall answer', 'Paste the key', 'Which model answers'])
      assert.is(screen.split(question).length, 2, screen)
  })

test('aichat alone opens a conversation, with a server by its address, whose only model is not asked about', async () => {
  await using scene = await openScene(speaksOpenAi(undefined, [{ id: 'only', max_model_len: 4096 }]))
  const { code, shown } = await typed([], scene, [
    [/Who shall answer\?/, `${down}${enter}`],
    [/Its address/, `${scene.provider.host}${enter}`],
    [/Ask something[\s\S]*> /, `hello${enter}`],
    [/only heard: hello[\s\S]*> /, endOfText],
  ])
  assert.is(code, 0)
  assert.not.match(shown, 'Which model')
  const { port } = new URL(scene.provider.url)
  assert.match(scene.read(`plugins/localhost-${port}.json`), `"${scene.provider.url}/v1/chat/completions"`)
})

test('Ollama without a model downloads one, which answers', async () => {
  await using ollama = await openStandIn(emptyOllama())
  await using scene = await openScene()
  const environment = { ...scene.environment, OLLAMA_HOST: ollama.host }
  const { code, shown } = await typed(['chat', 'Hello there'], { environment }, [
    [/Ollama on this machine, with a model to download/, `${down}${enter}`],
    [/Which model shall Ollama download\?[\s\S]*llama3\.2 +2\.0 GB/, `${down}${enter}`],
  ])
  assert.is(code, 0, shown)
  assert.match(shown, /local:llama3\.2 answers from now on[\s\S]*local answer/)
})

test('nobody for now leaves the failure as it was, and a conversation asks once', async () => {
  await using scene = await openScene()
  const once = await typed(['hi there'], scene, [[/Who shall answer\?/, `${up}${enter}`]])
  assert.is(once.code, 69)
  assert.match(once.shown, /No model is set up: no provider is active/)
  const { code, shown } = await typed(['chat'], scene, [
    [/Who shall answer\?/, `${up}${enter}`],
    [/Ask something[\s\S]*> /, `hello${enter}`],
    [/No model is set up[\s\S]*> /, endOfText],
  ])
  assert.is(code, 0)
  assert.is(shown.split('Nobody for now').length, shown.split('Who shall answer').length - 1 + 1)
  assertNothingKept(scene)
})

test('a wrong key is named in one sentence and asked for again, none with a space is sent, and a pasted export line holds one', async () => {
  await using scene = await openScene()
  const { code, shown } = await typed(['setup'], scene, [
    byKey[0]!,
    [/Paste the key/, `sk-proj-two words${enter}`],
    [/one line of printable ASCII without spaces[\s\S]*Paste the key/, `sk-proj-canary-wrong-123${enter}`],
    [
      /refused the key \(401\): Incorrect API key provided[\s\S]*Paste the key/,
      `export OPENAI_API_KEY="${goodKey}"${enter}`,
    ],
    byKey[2]!,
  ])
  assert.is(code, 0)
  assert.match(shown, /openai:gpt-4\.1-mini answers from now on/)
  assert.not.match(shown, 'canary')
  const lists = scene.provider.received.map(({ headers }) => headers.authorization)
  assert.equal(lists, ['Bearer sk-proj-canary-wrong-123', `Bearer ${goodKey}`])
})

test('Ctrl-C in each question ends with 130, and nothing is kept', async () => {
  const paths = [
    [],
    byKey.slice(0, 1),
    byKey.slice(0, 2),
    [[/Who shall answer\?/, `${down}${enter}`]] as Step[],
  ] as const
  const asked = [/Who shall answer\?/, /Paste the key/, /Which model answers\?/, /Its address/]
  for (const [at, steps] of paths.entries()) {
    await using scene = await openScene()
    const { code } = await typed(['setup'], scene, [...steps, [asked[at]!, interrupt]])
    assert.is(code, 130, String(asked[at]))
    assertNothingKept(scene)
  }
})

test('where the provider cannot be reached, that is said, and the first question stands again', async () => {
  await using scene = await openScene()
  await scene.provider.close()
  const { code } = await typed(['setup'], scene, [
    ...byKey.slice(0, 2),
    [/aichat: 127\.0\.0\.1:\d+ could not be asked: [\s\S]*Who shall answer\?/, interrupt],
  ])
  assert.is(code, 130)
  assertNothingKept(scene)
})

test('a key in the environment is not asked for, and setup again changes the model alone', async () => {
  await using scene = await openScene()
  const environment = { ...scene.environment, OPENAI_API_KEY: goodKey }
  const first = await typed(['setup'], { environment }, [
    [/OPENAI_API_KEY is set: OpenAI can answer[\s\S]*Which model/, enter],
  ])
  assert.is(first.code, 0)
  assert.not.ok(existsSync(join(scene.home, 'secrets.json')))
  const { code, shown } = await typed(['setup'], { environment }, [
    [/Model +openai:gpt-4\.1-mini[\s\S]*key from the environment[\s\S]*What shall change\?/, enter],
    [/Which model answers\?/, '4o'],
    [/answers\?[^❯]*4o[^❯]*❯ gpt-4o/, enter],
  ])
  assert.is(code, 0)
  assert.match(shown, /openai:gpt-4o answers from now on/)
})

test('what is set may be an account in place of a model', async () => {
  await using scene = await openScene()
  await runMain(['setup', '--provider', 'openai', '--key-stdin'], { ...scene, input: goodKey })
  const { code, shown } = await typed(['setup'], scene, [
    [/What shall change\?/, `${up}${up}${enter}`],
    [/Username/, `ada${enter}`],
    [/Password/, `Passw0rd-canary${enter}`],
    [/Password \(again\)/, `Passw0rd-canary${enter}`],
  ])
  assert.is(code, 0)
  assert.match(shown, /ada is the administrator/)
})

test.run()
