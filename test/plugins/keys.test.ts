import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { openHome } from '../command.ts'
import { openInstallation, pluginAt } from '../installation.ts'
import { completion, json, openStandIn } from '../stand-in.ts'
import { suite } from '../suite.ts'

const key = 'sk-canary-abcdefghijklmnop'
const question = { messages: [{ role: 'user' as const, content: 'Hi' }] }
const test = suite('the keys of plugins')

test('a plugin file edited on the disk to name a variable of ours is not used', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const installation = openInstallation({ JWT_SECRET: key, CUSTOM_API_KEY: key })
  installation.app.plugins.install(pluginAt(stand.url))
  writeFileSync(
    join(installation.home, 'plugins', 'custom.json'),
    JSON.stringify(
      pluginAt(stand.url, { auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'JWT_SECRET' } }),
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, 10))
  const { router } = await installation.app.chat()
  const failure = await router.complete({ request: question, plugin: 'custom' }).catch((reason: unknown) => reason)
  assert.instance(failure, AppError)
  assert.is((failure as AppError).code, 'not_found')
  assert.is(stand.received.length, 0)
  assert.match(installation.app.plugins.broken()[0]!.problems.join(), /JWT_SECRET is a variable of aichat/)
  await installation.close()
  await stand.close()
})

test('a bundled provider’s key goes to its own host or to this machine, never elsewhere', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const installation = openInstallation({ OPENAI_API_KEY: key })
  const { plugins } = installation.app
  const openai = plugins.export('openai')
  assert.throws(
    () => plugins.update('openai', { ...openai, endpoint: 'https://evil.example/v1/chat/completions' }),
    (reason: AppError) => /only sent to api\.openai\.com/.test(reason.details.join()),
  )
  assert.throws(
    () => plugins.update('openai', { ...openai, models_source: { url: 'https://evil.example/models' } }),
    (reason: AppError) => /models_source\.url/.test(reason.details.join()),
  )
  plugins.update('openai', { ...openai, endpoint: `${stand.url}/v1/chat/completions` })
  const { router } = await installation.app.chat()
  await router.complete({ request: question, plugin: 'openai' })
  assert.is(stand.received[0]!.headers['authorization'], `Bearer ${key}`)
  await installation.close()
  await stand.close()
})

test('the operator can allow another name, and never one that aichat reads', () => {
  const installation = openInstallation({ PLUGIN_KEY_ENVS: 'MY_TOKEN,JWT_SECRET,AICHAT_TOKEN' })
  const { plugins } = installation.app
  const named = (key_env: string) => pluginAt('https://chat.example', { auth: { header: 'X-Key', key_env } })
  assert.ok(plugins.validate(named('MY_TOKEN')))
  for (const name of ['JWT_SECRET', 'AICHAT_TOKEN', 'PATH', 'DEFAULT_ADMIN_PASSWORD', 'HF_TOKEN', 'JWT_API_KEY'])
    assert.throws(() => plugins.validate(named(name)), undefined, name)
  return installation.close()
})

test('PLUGIN_ALLOW_PRIVATE=false refuses addresses of the inside, at install and when a name leads there', async () => {
  const installation = openInstallation({ PLUGIN_ALLOW_PRIVATE: 'false', CUSTOM_API_KEY: key })
  const { plugins } = installation.app
  for (const endpoint of [
    'http://127.0.0.1:1/',
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://localhost/',
    'http://192.168.1.1/',
    'http://0x7f000001/',
  ]) {
    assert.throws(
      () => plugins.install(pluginAt('https://x.example', { endpoint, auth: { header: '', key_env: '' } })),
      undefined,
      endpoint,
    )
  }
  await installation.close()
})

test('a plugin that points at this aichat itself is not asked: it would ask itself for ever', async () => {
  const installation = openInstallation({ CUSTOM_API_KEY: key })
  const url = await installation.serve()
  installation.app.ownPorts.add(Number(new URL(url).port))
  installation.app.plugins.install(pluginAt(url))
  const { router } = await installation.app.chat()
  const failure = (await router
    .complete({ request: question, plugin: 'custom', fallback: false })
    .catch((reason: unknown) => reason)) as AppError
  assert.is(failure.code, 'configuration')
  assert.match(failure.message, /this aichat itself/)
  await installation.close()
})

test('a key that holds a line break is refused before anything is sent', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const installation = openInstallation({ CUSTOM_API_KEY: 'abc\r\nX-Evil: 1' })
  installation.app.plugins.install(pluginAt(stand.url))
  const { router } = await installation.app.chat()
  const failure = (await router
    .complete({ request: question, plugin: 'custom', fallback: false })
    .catch((reason: unknown) => reason)) as AppError
  assert.is(failure.code, 'configuration')
  assert.is(stand.received.length, 0)
  await installation.close()
  await stand.close()
})

test('a key is read from the environment, a credential, a file or the stored secrets, in that order', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const home = openHome()
  const file = join(home.folder, 'key.txt')
  writeFileSync(file, 'key-from-file\n')
  writeFileSync(join(home.folder, 'CUSTOM_API_KEY'), 'key-from-credential\n')
  writeFileSync(join(home.folder, 'secrets.json'), JSON.stringify({ CUSTOM_API_KEY: 'key-from-store' }), {
    mode: 0o600,
  })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
  const sources: readonly (readonly [Record<string, string>, string])[] = [
    [{}, 'key-from-store'],
    [{ CUSTOM_API_KEY_FILE: file }, 'key-from-file'],
    [{ CUSTOM_API_KEY_FILE: file, CREDENTIALS_DIRECTORY: home.folder }, 'key-from-credential'],
    [
      { CUSTOM_API_KEY_FILE: file, CREDENTIALS_DIRECTORY: home.folder, CUSTOM_API_KEY: 'key-from-environment' },
      'key-from-environment',
    ],
  ]
  for (const [environment, expected] of sources) {
    assert.is((await home.aichat(['chat', 'hi'], { environment })).code, 0)
    assert.is(stand.received.at(-1)!.headers['authorization'], `Bearer ${expected}`)
  }
  home.remove()
  await stand.close()
})

test('secrets that others can read are refused', async () => {
  const home = openHome()
  writeFileSync(join(home.folder, 'secrets.json'), '{"CUSTOM_API_KEY":"x"}', { mode: 0o644 })
  const { code, stderr } = await home.aichat(['plugin', 'list'])
  assert.is(code, 78)
  assert.match(stderr, /chmod 600/)
  home.remove()
})

test('no key is printed, whatever a provider echoes and however much is asked for', async () => {
  const stand = await openStandIn((request, response) =>
    json(response, 401, {
      error: { message: `You sent ${String(request.headers['authorization'])}`, code: 'invalid_api_key' },
    }),
  )
  const home = openHome({ CUSTOM_API_KEY: key })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
  const everything = []
  for (const words of [
    ['chat', 'hi', '--debug', '-v'],
    ['chat', 'hi', '--json', '--debug'],
    ['chat', 'hi', '--no-fallback', '--debug'],
    ['plugin', 'test', 'custom', '--debug'],
    ['plugin', 'list', '--json'],
    ['plugin', 'status', '--json'],
    ['config', 'list', '--json'],
  ]) {
    const { stdout, stderr } = await home.aichat(words)
    everything.push(stdout, stderr)
  }
  assert.not.match(everything.join('\n'), new RegExp(key))
  assert.ok(stand.received.length > 0)
  home.remove()
  await stand.close()
})

test.run()
