// Some with --all only: many processes.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { codeOf, launch, launchHere, statusOf, type Told } from './fake-client.ts'
import { scene } from './scene.ts'

const test = suite('aichat launch')

const launched: readonly (readonly [client: string, check: (told: Told, url: string) => void])[] = [
  [
    'codex',
    ({ args, environment }, url) => {
      assert.equal(args.slice(0, 4), ['-c', 'model="custom-model"', '-c', 'model_provider="aichat"'])
      assert.ok(args.includes(`model_providers.aichat.base_url="${url}/v1"`))
      assert.ok(args.includes('model_providers.aichat.env_key="AICHAT_API_KEY"'))
      assert.not(args.join(' ').includes(environment['AICHAT_API_KEY']!))
    },
  ],
  [
    'claude',
    ({ args, environment }, url) => {
      assert.is(JSON.parse(args[1]!).env.ANTHROPIC_BASE_URL, url)
      assert.equal([environment['ANTHROPIC_MODEL'], environment['ANTHROPIC_API_KEY']], ['custom-model', undefined])
      assert.not(args.join(' ').includes(environment['ANTHROPIC_AUTH_TOKEN']!))
    },
  ],
  [
    'opencode',
    ({ environment }, url) => {
      const { provider, model } = JSON.parse(environment['OPENCODE_CONFIG_CONTENT']!)
      assert.equal(provider.aichat.options, { baseURL: `${url}/v1`, apiKey: '{env:AICHAT_API_KEY}' })
      assert.is(model, 'aichat/custom-model')
    },
  ],
  [
    'aider',
    ({ args, environment }, url) => {
      assert.equal(args.slice(0, 4), ['--model', 'openai/custom-model', '--openai-api-base', `${url}/v1`])
      assert.is(environment['OPENAI_API_BASE'], `${url}/v1`)
    },
  ],
]

test('a client runs with settings and a key of its own, which dies with it', () =>
  scene(async (place) => {
    for (const [client, check] of launched) {
      const { code, told, stderr } = await launchHere(place, [client, '--', 'one', '--two'], { FAKE_CODE: '7' })
      assert.equal([told.status, told.args.slice(-2)], [200, ['one', '--two']], client)
      check(told, place.daemon.url)
      assert.is(code, 7, stderr)
      assert.is(await statusOf(place.daemon.url, told.key), 401)
      assert.equal(
        readdirSync(place.home).filter((name) => name.startsWith('.')),
        [],
      )
    }
  }))

test.whole('llm gets a folder of its own with the user’s other files in it', () =>
  scene(async (place) => {
    const folder = join(place.home, 'llm')
    mkdirSync(folder)
    writeFileSync(join(folder, 'keys.json'), '{"openai": "mine"}')
    writeFileSync(join(folder, 'aliases.json'), '{"a": "b"}')
    const { told } = await launchHere(place, ['llm'], { LLM_USER_PATH: folder, OPENAI_API_KEY: 'none' })
    assert.equal(Object.keys(told.files).sort(), ['aliases.json', 'extra-openai-models.yaml', 'keys.json'])
    const { openai, aichat } = JSON.parse(told.files['keys.json']!)
    assert.is(openai, 'mine')
    assert.is(await statusOf(place.daemon.url, aichat), 401)
    assert.match(told.files['extra-openai-models.yaml']!, `api_base: ${place.daemon.url}/v1`)
    assert.is(readFileSync(join(folder, 'keys.json'), 'utf8'), '{"openai": "mine"}')
    assert.not(readdirSync(folder).includes('extra-openai-models.yaml'))
    assert.throws(() => readdirSync(told.environment['LLM_USER_PATH']!), /ENOENT/)
  }),
)

test.whole('a library is any command with its environment; a persona is reached by the key alone', () =>
  scene(async (place) => {
    await place.run(['persona', 'create', '--name', 'Ada', '--model', 'custom-model'])
    const { code, told } = await launchHere(place, ['openai', '--persona', 'Ada', '--', 'codex', 'x'])
    assert.is(code, 0)
    assert.equal([told.status, told.args, told.environment['OPENAI_BASE_URL']], [200, ['x'], `${place.daemon.url}/v1`])
    const { keys } = JSON.parse((await place.run(['key', 'list', '--json'])).stdout)
    assert.equal([keys.at(-1).personas.length, keys.at(-1).state], [1, 'revoked'])
  }),
)

test.whole('a signal reaches the client, whose exit code is passed on', () =>
  scene(async (place) => {
    for (const [signal, code] of [
      ['SIGTERM', 9],
      ['SIGINT', 8],
    ] as const) {
      const { child, told, output } = await launch(place, ['codex'], { FAKE_WAITS: '1' })
      child.kill(signal)
      assert.is(await codeOf(child), code, output.stderr)
      assert.match(output.stdout, `${signal}\n`)
      assert.is(await statusOf(place.daemon.url, told.key), 401)
    }
  }),
)

test.whole('without a daemon one is served until the client ends', () =>
  scene(async (place) => {
    await place.run(['config', 'set', 'api.port', '9'])
    const { code, told } = await launchHere(place, ['codex'], { FAKE_CODE: '9' })
    assert.equal([code, told.status], [9, 200])
    assert.is.not(told.base, place.daemon.url)
    assert.is(await statusOf(told.base, told.key), 0)
  }),
)

test('without a user, or without a model, it is a matter of the setup: 78', async () => {
  const home = openFastHome({ CUSTOM_API_KEY: 'sk-test' })
  await home.aichat(['config', 'set', 'api.port', '9'])
  const run = () => home.aichat(['launch', 'openai', '--', 'true'])
  const none = await run()
  assert.equal([none.code, /no model yet/.test(none.stderr)], [78, true], none.stderr)
  const plugin = JSON.stringify(pluginAt('http://127.0.0.1:9', {}))
  assert.is((await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })).code, 0)
  const nobody = await run()
  assert.equal([nobody.code, /No user found/.test(nobody.stderr)], [78, true], nobody.stderr)
  home.remove()
})

test('a named server that does not answer, a client that is not there or has no settings for a run: what to do', () =>
  scene(async ({ run }) => {
    const none = await run(['launch', 'codex'])
    assert.equal(
      [none.code, none.stderr],
      [69, 'aichat: Codex is not installed: codex not found\n  Install it: npm install -g @openai/codex\n'],
    )
    const zed = await run(['launch', 'zed'])
    assert.equal([zed.code, zed.stderr], [64, 'aichat: Zed has no settings for one run\n  Use: aichat connect zed\n'])
    assert.is((await run(['launch', 'openai'])).code, 64)
    const gone = await run(['launch', 'openai', '--server', 'http://127.0.0.1:9', '--', 'true'])
    assert.is(gone.code, 69)
    assert.match(gone.stderr, /No aichat answers at http:\/\/127\.0\.0\.1:9/)
  }))

test.run()
