// Some with --all only: many processes.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import * as assert from 'uvu/assert'
import { main } from '../../../src/cli/main.ts'
import { isRuntimeInstalled } from '../../../src/inference/session.ts'
import { knownModels } from '../../../src/model-hub/known-models.ts'
import { closing } from '../../helpers/disposal.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { type LoopbackHub, openLoopbackHub } from '../../helpers/providers/loopback-hub.ts'
import { randomWeights, tinyTokens, writeTinyModel } from '../../helpers/providers/tiny-decoder.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat models')

type Scene = { readonly home: Home; readonly provider: StandIn }

/** A home with two plugins of a fake provider: it lists the models of `good` and rejects `bad`. */
async function scene(run: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) =>
    request.url.startsWith('/bad')
      ? json(response, 401, { error: { message: 'no such key' } })
      : json(response, 200, { data: [{ id: 'one' }, { id: 'three' }] }),
  )
  using home = openFastHome({ GOOD_API_KEY: 'k', BAD_API_KEY: 'k' })
  for (const id of ['good', 'bad', 'keyless']) {
    const plugin = pluginAt(provider.url, {
      id,
      auth: { header: 'Authorization', prefix: 'Bearer ', key_env: `${id.toUpperCase()}_API_KEY` },
      model_map: ['one', 'two'],
      models_source: { url: `${provider.url}/${id}/models` },
    })
    const { code } = await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(plugin) })
    assert.is(code, 0)
  }
  await run({ home, provider })
}

test('refresh prints the changes, keeps the previous list, and restore restores it', () =>
  scene(async ({ home }) => {
    const refreshed = await home.aichat(['models', 'refresh', 'good'])
    assert.is(refreshed.code, 0, refreshed.stderr)
    assert.match(refreshed.stdout, /PLUGIN +BEFORE +AFTER +ADDED +REMOVED/)
    assert.match(refreshed.stdout, /good +2 +2 +1 +1 +refreshed/)
    assert.ok(existsSync(join(home.folder, 'plugins', 'good.json.backup')))
    assert.match((await home.aichat(['models', 'list', 'good', '--plain'])).stdout, /^good:one\tgood.*\ngood:three\t/)
    const restored = await home.aichat(['models', 'restore', 'good'])
    assert.is(restored.code, 0, restored.stderr)
    assert.match((await home.aichat(['models', 'list', 'good', '--plain'])).stdout, /^good:one\tgood.*\ngood:two\t/)
  }))

test('a dry run shows the names and writes nothing', () =>
  scene(async ({ home }) => {
    const before = readFileSync(join(home.folder, 'plugins', 'good.json'), 'utf8')
    const { code, stdout } = await home.aichat(['models', 'refresh', 'good', '--dry-run'])
    assert.is(code, 0)
    assert.match(stdout, /would change/)
    assert.match(stdout, /\+ good three\n- good two/)
    assert.is(readFileSync(join(home.folder, 'plugins', 'good.json'), 'utf8'), before)
  }))

test('a missing key is named and is exit 78, and its models are listed behind those that can answer', () =>
  scene(async ({ home, provider }) => {
    assert.match(
      (await home.aichat(['models', 'list', '--plain'])).stdout,
      /^bad:one\t.*\ngood:two\t.*\nvoxa-tts:.*\nkeyless:one\t/s,
    )
    provider.received.length = 0
    const { code, stdout, stderr } = await home.aichat(['models', 'refresh', 'keyless'])
    assert.equal([code, stdout, provider.received.length], [78, '', 0])
    assert.match(stderr, /KEYLESS_API_KEY is not set/)
  }))

test('--all goes on after a failure, names the skipped plugins, and is exit 1', () =>
  scene(async ({ home }) => {
    const all = await home.aichat(['models', 'refresh', '--all', '--json'])
    assert.is(all.code, 1)
    const { plugins } = JSON.parse(all.stdout) as { plugins: Record<string, unknown>[] }
    const row = (id: string) => plugins.find(({ plugin }) => plugin === id)!
    assert.equal(row('good')['added'], ['three'])
    assert.match(String(row('bad')['error']), /refused the key \(401\): no such key; The key is BAD_API_KEY/)
    assert.is(row('keyless')['skipped'], 'KEYLESS_API_KEY is not set')
    assert.match(String(row('github')['skipped']), /retired/)
    for (const field of ['plugin', 'before', 'after', 'added', 'removed', 'backup', 'skipped', 'error'])
      assert.ok(
        plugins.every((each) => field in each),
        field,
      )
  }))

test('a skipped plugin is no failure, unless --strict', () =>
  scene(async ({ home }) => {
    await home.aichat(['plugin', 'remove', 'bad', '--yes'])
    assert.is((await home.aichat(['models', 'refresh', '--all'])).code, 0)
    assert.is((await home.aichat(['models', 'refresh', '--all', '--strict'])).code, 1)
  }))

test('refresh without a plugin or --all is exit 64', () =>
  scene(async ({ home }) => {
    assert.is((await home.aichat(['models', 'refresh'])).code, 64)
    assert.is((await home.aichat(['models', 'refresh', 'nobody'])).code, 67)
  }))

const shape = {
  vocabulary: tinyTokens.count,
  hidden: 16,
  intermediate: 24,
  layers: 1,
  heads: 2,
  keyValueHeads: 1,
  positions: 500,
}

/** A hub that gives a tiny model in the place of the one that is pulled by default. */
async function openTinyHub(folder: string): Promise<LoopbackHub> {
  writeTinyModel(folder, shape, randomWeights(shape, 2))
  const hub = await openLoopbackHub()
  for (const { repository, revision, path } of knownModels.get('smollm2-360m')!.editions[0]!.files)
    hub.files.set(`${repository}@${revision}/${path}`, {
      content: readFileSync(join(folder, path)),
      large: path.endsWith('.onnx'),
    })
  return hub
}

const chatTest = (await isRuntimeInstalled()) ? test : test.skip

chatTest('a pulled model is listed, answers chats without any other runner, and can be removed', async () => {
  const folder = temporaryFolder()
  await using hub = closing(await openTinyHub(folder))
  using home = openFastHome({ HF_ENDPOINT: hub.endpoint })
  const nobody = await home.aichat(['chat', 'hi'])
  assert.is(nobody.code, 69)
  assert.match(nobody.stderr, /aichat models pull smollm2-360m/)

  const pulled = await home.aichat(['models', 'pull', 'smollm2-360m', '--json'])
  assert.is(pulled.code, 0, pulled.stderr)
  assert.ok(JSON.parse(pulled.stdout).downloaded > 0)
  assert.match(
    (await home.aichat(['models', 'list', '--installed'])).stdout,
    /local:smollm2-360m +this machine +chat +\d+ \w+ +default/,
  )

  const answer = await home.aichat(['chat', 'hi', '--json', '--max-tokens', '5', '--temperature', '0'])
  assert.is(answer.code, 0, answer.stderr)
  const reply = JSON.parse(answer.stdout)
  assert.equal([reply.aichat.plugin, reply.aichat.runner, reply.model], [null, 'embedded', 'smollm2-360m'])
  assert.ok(reply.usage.completion_tokens <= 5)
  const streamed = await home.aichat(['chat', 'hi', '--max-tokens', '5', '--temperature', '0'])
  assert.is(streamed.stdout.trim(), reply.choices[0].message.content.trim())

  assert.match((await home.aichat(['models', 'pull', 'smollm2-360m'])).stdout, /is already installed/)
  assert.is((await home.aichat(['models', 'remove', 'smollm2-360m'])).code, 0)
  const again = await home.aichat(['models', 'remove', 'smollm2-360m'])
  assert.is(again.code, 67)
  assert.match(again.stderr, /not found among the pulled ones\n {2}No model has been pulled to this machine\n$/)
  assert.is((await home.aichat(['chat', 'hi'])).code, 69)
})

chatTest.whole('on a terminal the first chat without any runner offers the pull, and then answers', async () => {
  const folder = temporaryFolder()
  await using hub = closing(await openTinyHub(folder))
  const home = temporaryFolder()
  const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', HF_ENDPOINT: hub.endpoint }
  const words = ['chat', 'hi', '--max-tokens', '5', '--temperature', '0']
  const refused = await runAtTerminal([...words, '--no-input'], environment)
  assert.is(refused.code, 69)
  assert.is(hub.hub.received.length, 0)
  const answered = await runAtTerminal([...words, '--yes'], environment)
  assert.is(answered.code, 0, answered.stderr)
  assert.match(answered.stderr, /No model is set up: no provider is active/)
  assert.match(answered.stderr, /\r\x1b\[K\[#+-*\] +\d+%/)
  assert.ok(answered.stdout.length > 0)
})

test('an unknown model lists the models to pull', async () => {
  using home = openFastHome()
  const { code, stderr } = await home.aichat(['models', 'pull', 'gpt-5'])
  assert.is(code, 67)
  for (const name of ['smollm2-360m', 'smollm2-135m', 'minilm', 'voxb-tts']) assert.match(stderr, name)
})

test.run()

/** Runs a command in this process with a terminal. */
async function runAtTerminal(words: readonly string[], environment: Record<string, string>) {
  const out: string[] = []
  const err: string[] = []
  const code = await main(words, {
    environment,
    stdinIsTerminal: true,
    stdoutIsTerminal: true,
    stderrIsTerminal: true,
    columns: 80,
    rows: 24,
    onResize: () => () => {},
    signal: new AbortController().signal,
    stdin: Readable.from([]),
    stderr: new Writable({ write: (piece, _, done) => done(void err.push(String(piece)) as never) }),
    out: async (data) => void out.push(String(data)),
    err: (text) => void err.push(`${text}\n`),
    outClosed: false,
    stdinIsPiped: () => false,
    outliveTerminal: () => true,
    leaveInterrupts: () => () => {},
  })
  return { code, stdout: out.join(''), stderr: err.join('') }
}
