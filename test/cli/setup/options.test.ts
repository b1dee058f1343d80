import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runMain } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { emptyOllama, goodKey, openScene, speaksOpenAi } from './scene.ts'

const test = suite('aichat setup by options')

test('sets up a provider, and prints what is set', async () => {
  await using scene = await openScene()
  const nothing = JSON.parse((await runMain(['setup', '--json'], scene)).stdout)
  assert.equal([nothing.model, nothing.provider, nothing.local_runner.reachable], [null, null, false])

  const words = ['setup', '--provider', 'openai', '--key-stdin', '--model', 'gpt-4o']
  const made = await runMain([...words, '--json'], { ...scene, input: `${goodKey}\r\n` })
  assert.is(made.code, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout), {
    model: 'openai:gpt-4o',
    provider: { id: 'openai', name: 'OpenAI', key: 'OPENAI_API_KEY', key_from: 'file' },
    local_runner: { url: 'http://127.0.0.1:9', reachable: false, models: [] },
  })
  assert.is((await runMain(['Who is there?'], scene)).stdout, 'gpt-4o heard: Who is there?\n')

  const other = await runMain(['setup', '--model', 'gpt-4.1'], scene)
  assert.equal([other.code, other.stdout], [0, 'openai:gpt-4.1\n'], other.stderr)
  const { stdout } = await runMain(['doctor'], scene)
  assert.match(stdout, /^Next: .+\n\n/)
  assert.match(stdout, /ok +chats: OpenAI is set up; aichat plugin test openai asks it/)
})

test('finds the provider by the key, and sends none to another provider than its own', async () => {
  await using scene = await openScene()
  const wrong = await runMain(['setup', '--provider', 'openai', '--key-stdin'], {
    ...scene,
    input: 'sk-ant-canary-0123456789',
  })
  assert.is(wrong.code, 64)
  assert.match(wrong.stderr, /This key is one of Anthropic, not of OpenAI/)
  assert.is(scene.provider.received.length, 0)
  const untold = await runMain(['setup', '--key-stdin'], { ...scene, input: 'abcdefgh0123456789' })
  assert.is(untold.code, 64)
  assert.match(untold.stderr, /add --provider/)
  for (const input of [goodKey, ` '${goodKey}'; `, `OPENAI_API_KEY = ${goodKey}`, `Authorization: Bearer ${goodKey}`]) {
    const found = await runMain(['setup', '--key-stdin'], { ...scene, input })
    assert.equal([found.code, found.stdout], [0, 'openai:gpt-4.1-mini\n'], `${input}: ${found.stderr}`)
    assert.is(JSON.parse(scene.read('secrets.json')).OPENAI_API_KEY, goodKey)
  }
})

test('a flaw ends with one sentence, and nothing is kept', async () => {
  await using scene = await openScene()
  const key = ['setup', '--provider', 'openai', '--key-stdin']
  const flaws: readonly (readonly [words: readonly string[], input: string, code: number, says: RegExp])[] = [
    [['setup'], '', 64, /Cannot ask without a terminal: add --provider, --address or --model, or --account/],
    [key, '', 64, /Nothing was piped in/],
    [key, 'sk-proj-one\nsk-proj-two', 65, /a key is one line of printable ASCII/],
    [key, 'sk-proj-one two', 65, /a key is one line of printable ASCII/],
    [key, 'sk-proj-canary-wrong', 77, /refused the key \(401\)/],
    [[...key, '--model', 'gpt-4.1-mino'], goodKey, 67, /OpenAI lists no model "gpt-4\.1-mino".*gpt-4\.1-mini/],
    [['setup', '--provider', 'openai'], '', 78, /OPENAI_API_KEY is not set/],
    [['setup', '--provider', 'opnai'], '', 67, /openai/],
    [['setup', '--provider', 'openai', '--address', 'http://127.0.0.1:9'], '', 64, /not both/],
    [['setup', '--provider', 'openai', '--username', 'ada'], '', 64, /one after the other/],
    [['setup', '--address', 'http://127.0.0.1:9'], '', 69, /could not be asked/],
    [['setup', '--address', 'ftp://127.0.0.1'], '', 64, /Invalid server address/],
    [['setup', '--provider', 'ollama', '--model', 'x'], '', 69, /Ollama does not answer/],
  ]
  for (const [words, input, code, says] of flaws) {
    const ran = await runMain(words, { ...scene, input })
    assert.is(ran.code, code, `${words.join(' ')}: ${ran.stderr}`)
    assert.match(ran.stderr, says)
    assert.not.match(ran.stderr, 'canary')
  }
  for (const name of ['secrets.json', 'keychain.json', 'config.json']) assert.not.ok(existsSync(join(scene.home, name)))
  assert.is((await runMain(['plugin', 'current'], scene)).stdout, '')
})

test('of two defaults the new one counts, and one in the environment is named', async () => {
  await using scene = await openScene()
  await runMain(['config', 'set', 'chat.model', 'groq:llama-3.3-70b-versatile'], scene)
  const words = ['setup', '--provider', 'openai', '--key-stdin']
  assert.is((await runMain(words, { ...scene, input: goodKey })).stdout, 'openai:gpt-4.1-mini\n')
  assert.is((await runMain(['config', 'get', 'chat.model'], scene)).stdout, '')
  const environment = { ...scene.environment, AICHAT_MODEL: 'openai:gpt-4o' }
  const { stdout, stderr } = await runMain(['setup', '--model', 'gpt-4.1'], { environment })
  assert.match(stderr, /AICHAT_MODEL is set, so that openai:gpt-4o is asked in its place/)
  assert.is(stdout, 'openai:gpt-4o\n')
})

test('sets up a server that wants a key, and again with another model', async () => {
  await using scene = await openScene(speaksOpenAi('server-key-0123'))
  const { port } = new URL(scene.provider.url)
  const address = ['setup', '--address', `${scene.provider.url}/v1/`]
  const refused = await runMain(address, scene)
  assert.is(refused.code, 77)
  const made = await runMain([...address, '--key-stdin'], { ...scene, input: 'server-key-0123' })
  assert.equal([made.code, made.stdout], [0, `localhost-${port}:gpt-4.1-mini\n`], made.stderr)
  const again = await runMain([...address, '--model', 'gpt-4o'], scene)
  assert.equal([again.code, again.stdout], [0, `localhost-${port}:gpt-4o\n`], again.stderr)
  assert.is((await runMain(['And now? Hm'], scene)).stdout, 'gpt-4o heard: And now? Hm\n')
})

test('has Ollama download the model that is named', async () => {
  await using ollama = await openStandIn(emptyOllama())
  await using scene = await openScene()
  const environment = { ...scene.environment, OLLAMA_HOST: ollama.host }
  const missing = await runMain(['setup', '--provider', 'ollama', '--model', 'missing'], { environment })
  assert.is(missing.code, 76)
  assert.match(missing.stderr, /Ollama could not pull missing: pull model manifest/)
  assert.match((await runMain(['doctor'], { environment })).stdout, /^Next: no model answers: aichat setup\n/)
  const { code, stdout, stderr } = await runMain(['setup', '--model', 'local:tiny'], { environment })
  assert.equal([code, stdout], [0, 'local:tiny\n'], stderr)
})

test.run()
