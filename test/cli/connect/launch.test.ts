import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { type Scene, scene } from './scene.ts'

const test = suite('aichat launch')

/** A client that tells its arguments and environment, asks for the models with its key, and then waits or ends. */
const fakeClient = `#!/usr/bin/env node
const { readFileSync, readdirSync } = require('node:fs')
const names = /^(?:AICHAT_API_KEY|ANTHROPIC_|OPENAI_|AIDER_|OPENCODE_|LLM_|OLLAMA_API_KEY)/
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
const key = environment.AICHAT_API_KEY ?? environment.ANTHROPIC_AUTH_TOKEN ?? environment.OPENAI_API_KEY
const files = Object.fromEntries(
  [environment.LLM_USER_PATH].filter(Boolean).flatMap((folder) => readdirSync(folder).map((name) => [name, readFileSync(folder + '/' + name, 'utf8')])),
)
const base = environment.ANTHROPIC_BASE_URL ?? /http:\\/\\/127\\.0\\.0\\.1:\\d+/.exec(JSON.stringify([process.argv, environment]))?.[0]
const tell = (status) => console.log(JSON.stringify({ args: process.argv.slice(2), environment, files, base, key, status, pid: process.pid }))
const ended = (name, code) => process.on(name, () => { console.log(name); process.exit(code) })
ended('SIGTERM', 9)
ended('SIGINT', 8)
fetch(base + '/v1/models', { headers: { authorization: 'Bearer ' + key } }).then(({ status }) => {
  tell(status)
  if (process.env.FAKE_WAITS) setInterval(() => {}, 1000)
  else process.exit(Number(process.env.FAKE_CODE ?? 0))
}, () => tell(0))
`

interface Told {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly base: string
  readonly key: string
  readonly status: number
  readonly pid: number
}

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

for (const [client, check] of launched)
  test(`${client} runs with settings and a key of its own, which dies with it`, () =>
    scene(async (place) => {
      const { child, told, output } = await launch(place, [client, '--', 'one', '--two'], { FAKE_CODE: '7' })
      assert.equal([told.status, told.args.slice(-2)], [200, ['one', '--two']])
      check(told, place.daemon.url)
      assert.is(await codeOf(child), 7, output.stderr)
      assert.is(await statusOf(place.daemon.url, told.key), 401)
      assert.equal(
        readdirSync(place.home).filter((name) => name.startsWith('.')),
        [],
      )
    }))

test('llm gets a folder of its own with the user’s other files in it', () =>
  scene(async (place) => {
    const folder = join(place.home, 'llm')
    mkdirSync(folder)
    writeFileSync(join(folder, 'keys.json'), '{"openai": "mine"}')
    writeFileSync(join(folder, 'aliases.json'), '{"a": "b"}')
    const { child, told } = await launch(place, ['llm'], { LLM_USER_PATH: folder, OPENAI_API_KEY: 'none' })
    await codeOf(child)
    assert.equal(Object.keys(told.files).sort(), ['aliases.json', 'extra-openai-models.yaml', 'keys.json'])
    const { openai, aichat } = JSON.parse(told.files['keys.json']!)
    assert.is(openai, 'mine')
    assert.is(await statusOf(place.daemon.url, aichat), 401)
    assert.match(told.files['extra-openai-models.yaml']!, `api_base: ${place.daemon.url}/v1`)
    assert.is(readFileSync(join(folder, 'keys.json'), 'utf8'), '{"openai": "mine"}')
    assert.not(readdirSync(folder).includes('extra-openai-models.yaml'))
    assert.throws(() => readdirSync(told.environment['LLM_USER_PATH']!), /ENOENT/)
  }))

test('a library is any command with its environment; a persona is reached by the key alone', () =>
  scene(async (place) => {
    await place.run(['persona', 'create', '--name', 'Ada', '--model', 'custom-model'])
    const { child, told } = await launch(place, ['openai', '--persona', 'Ada', '--', 'codex', 'x'])
    assert.is(await codeOf(child), 0)
    assert.equal([told.status, told.args, told.environment['OPENAI_BASE_URL']], [200, ['x'], `${place.daemon.url}/v1`])
    const { keys } = JSON.parse((await place.run(['key', 'list', '--json'])).stdout)
    assert.equal([keys.at(-1).personas.length, keys.at(-1).state], [1, 'revoked'])
  }))

for (const [signal, code] of [
  ['SIGTERM', 9],
  ['SIGINT', 8],
] as const)
  test(`${signal} reaches the client, whose exit code is passed on`, () =>
    scene(async (place) => {
      const { child, told, output } = await launch(place, ['codex'], { FAKE_WAITS: '1' })
      child.kill(signal)
      assert.is(await codeOf(child), code, output.stderr)
      assert.match(output.stdout, `${signal}\n`)
      assert.is(await statusOf(place.daemon.url, told.key), 401)
    }))

test('killed by SIGKILL it leaves a key that ends within a day, and a client that is ended tells its signal', () =>
  scene(async (place) => {
    const killed = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    killed.child.kill('SIGKILL')
    await codeOf(killed.child)
    process.kill(killed.told.pid, 'SIGKILL')
    const { keys } = JSON.parse((await place.run(['key', 'list', '--json'])).stdout)
    const ends = keys[0].expires_at - Date.now()
    assert.ok(ends > 0 && ends <= 86_400_000, String(ends))
    const ended = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    process.kill(ended.told.pid, 'SIGKILL')
    assert.is(await codeOf(ended.child), 137)
    assert.match(ended.output.stderr, /codex was ended by SIGKILL/)
  }))

test('without a daemon one is served until the client ends, also when it is killed', () =>
  scene(async (place) => {
    await place.run(['config', 'set', 'api.port', '9'])
    const { child, told } = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    assert.is(told.status, 200)
    assert.is.not(told.base, place.daemon.url)
    process.kill(told.pid, 'SIGTERM')
    assert.is(await codeOf(child), 9)
    assert.is(await statusOf(told.base, told.key), 0)
    const killed = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    killed.child.kill('SIGKILL')
    await codeOf(killed.child)
    assert.is(await statusOf(killed.told.base, killed.told.key), 0)
    process.kill(killed.told.pid, 'SIGKILL')
  }))

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

interface Running {
  readonly child: ChildProcess
  readonly told: Told
  readonly output: { stdout: string; stderr: string }
}

/**
 * Launches the fake client under the names of the real ones; resolves once it has printed its arguments and
 * environment.
 */
async function launch(
  { home, environment }: Scene,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const programs = join(home, 'programs')
  mkdirSync(programs, { recursive: true })
  for (const name of ['codex', 'claude', 'opencode', 'aider', 'llm']) {
    writeFileSync(join(programs, name), fakeClient)
    chmodSync(join(programs, name), 0o755)
  }
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'launch', ...words], {
    env: { ...environment, ...more, PATH: [programs, process.env['PATH']].join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const told = new Promise<Told>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
      const [line, ...rest] = output.stdout.split('\n')
      if (rest.length > 0) resolve(JSON.parse(line!) as Told)
    })
    child.on('close', () => reject(new Error(output.stderr)))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return { child, told: await told, output }
}

/** Its exit code, once all of its output is here; after a signal, its client may write on. */
async function codeOf(child: ChildProcess): Promise<number | null> {
  const isWritten = child.stdout!.closed && child.stderr!.closed
  const closed = once(child, 'close')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (!isWritten && child.signalCode === null) await closed
  return child.exitCode
}

/** The status of a request with a key; 0 without an answer. */
async function statusOf(url: string, key: string): Promise<number> {
  try {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}
