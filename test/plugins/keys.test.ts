import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openApp } from '../../src/app/compose.ts'
import { AppError } from '../../src/errors.ts'
import { parseManifest } from '../../src/plugins/manifest.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const key = 'sk-canary-abcdefghijklmnop'
const question = { messages: [{ role: 'user' as const, content: 'Hi' }] }
const test = suite('the keys of plugins')

/** The problems of a refused action; fails when it is not refused. */
function problemsOf(action: () => unknown): string {
  try {
    action()
  } catch (reason) {
    assert.instance(reason, AppError)
    return (reason as AppError).details.join('\n')
  }
  return assert.unreachable('nothing was refused') as never
}

function openedSettings(PLUGIN_KEY_HOSTS: string) {
  return readSettings({ AICHAT_HOME: '/nonexistent', PLUGIN_KEY_HOSTS }, {})
}

test('a plugin file edited on the disk to name a variable of ours is not used: the version before stays, if there is one', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const secret = `${key}-of-ours`
  const installation = openInstallation({ JWT_SECRET: secret, CUSTOM_API_KEY: key })
  await installation.app.plugins.install(pluginAt(stand.url))
  // As editors do it: a new file in the place of the old one.
  const file = join(installation.home, 'plugins', 'custom.json')
  const edited = pluginAt(stand.url, { auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'JWT_SECRET' } })
  writeFileSync(`${file}.new`, JSON.stringify(edited))
  renameSync(`${file}.new`, file)
  const { router } = await installation.app.chat()
  await router.complete({ request: question, plugin: 'custom' })
  assert.equal(
    stand.received.map(({ headers }) => headers['authorization']),
    [`Bearer ${key}`],
  )
  assert.match(installation.app.plugins.broken()[0]!.problems.join(), /names a variable of aichat/)
  const started = await openApp(
    readSettings({ AICHAT_HOME: installation.home, JWT_SECRET: secret, CUSTOM_API_KEY: key }),
  )
  const fresh = (await started.chat()).router
  const failure = await fresh.complete({ request: question, plugin: 'custom' }).catch((reason: unknown) => reason)
  assert.instance(failure, AppError)
  assert.is((failure as AppError).code, 'not_found')
  assert.is(stand.received.length, 1)
  await started.close()
  await installation.close()
  await stand.close()
})

test('a bundled provider’s key goes to its own host, and to no port of this machine', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const installation = openInstallation({ OPENAI_API_KEY: key })
  const { plugins } = installation.app
  const openai = plugins.export('openai')
  const refusal = async (change: Record<string, unknown>) => {
    try {
      await plugins.update('openai', { ...openai, ...change })
      return ''
    } catch (reason) {
      return (reason as AppError).details.join('\n')
    }
  }
  assert.match(
    await refusal({ endpoint: 'https://evil.example/v1/chat' }),
    /only sent to api\.openai\.com; if evil\.example may/,
  )
  assert.match(await refusal({ models_source: { url: 'https://evil.example/models' } }), /^models_source\.url: /)
  for (const url of [stand.url, stand.url.replace('127.0.0.1', 'localhost'), 'http://evil.localhost', 'http://[::1]'])
    assert.match(
      await refusal({ endpoint: `${url}/v1/chat/completions` }),
      /add OPENAI_API_KEY=\S+ to PLUGIN_KEY_HOSTS/,
      url,
    )
  await installation.close()
  await stand.close()
})

test('a bundled key goes to an address that the operator names, as the refusal says how', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const home = openFastHome({ OPENAI_API_KEY: key })
  const { stdout } = await home.aichat(['plugin', 'export', 'openai'])
  const input = JSON.stringify({ ...JSON.parse(stdout), endpoint: `${stand.url}/v1/chat/completions` })
  const refused = await home.aichat(['plugin', 'update', 'openai', '-'], { input })
  assert.is(refused.code, 65)
  const [, entry] = / add (\S+) to PLUGIN_KEY_HOSTS/.exec(refused.stderr) ?? []
  assert.is(entry, `OPENAI_API_KEY=${stand.host}`)
  const environment = { PLUGIN_KEY_HOSTS: `GROQ_API_KEY=127.0.0.1:1, ${entry}` }
  assert.is((await home.aichat(['plugin', 'update', 'openai', '-'], { input, environment })).code, 0)
  assert.is((await home.aichat(['chat', '-m', 'openai:gpt-4.1', 'hi'], { environment })).code, 0)
  assert.is(stand.received[0]!.headers['authorization'], `Bearer ${key}`)

  // Without the setting the plugin fails with the reason; the bundled one, which asks another host, does not take its place.
  const failed = await home.aichat(['chat', '-m', 'openai:gpt-4.1', '--no-fallback', 'hi'])
  assert.is(failed.code, 78)
  assert.match(failed.stderr, /OPENAI_API_KEY is only sent to api\.openai\.com; .*PLUGIN_KEY_HOSTS/)
  assert.is(stand.received.length, 1)
  home.remove()
  await stand.close()
})

test('the addresses that the operator names are read exactly, and an entry that is none is told by its number', () => {
  const hosts = (text: string) => openedSettings(text).pluginKeyHosts
  assert.equal(
    hosts('A_API_KEY=127.0.0.1:80,A_API_KEY = http://Proxy.example/,B_API_KEY=[::1]:9'),
    new Map([
      ['A_API_KEY', ['127.0.0.1:80', 'proxy.example']],
      ['B_API_KEY', ['[::1]:9']],
    ]),
  )
  const rules = { keyNames: [], allowPrivate: true, pinned: hosts('CUSTOM_API_KEY=127.0.0.1:80') }
  const goes = (url: string) => {
    try {
      return Boolean(parseManifest(pluginAt(url), rules))
    } catch {
      return false
    }
  }
  assert.equal(['http://127.0.0.1', 'http://127.0.0.1:80', 'http://127.0.0.1:81', 'https://127.0.0.1'].map(goes), [
    true,
    true,
    false,
    false,
  ])
  for (const wrong of ['127.0.0.1', `OPENAI_API_KEY=${key}`, 'a=b', 'A_API_KEY=a/b', 'A_API_KEY=', 'A_API_KEY=a@b'])
    try {
      hosts(`X_API_KEY=x.example,${wrong}`)
      assert.unreachable(wrong)
    } catch (reason) {
      assert.instance(reason, AppError, wrong)
      assert.match((reason as AppError).details.join(), /entry 2 is invalid/)
      assert.not.match((reason as AppError).details.join(), key)
    }
})

test('the operator can allow another name, and never one that aichat reads', () => {
  const installation = openInstallation({ PLUGIN_KEY_ENVS: 'MY_TOKEN,JWT_SECRET,AICHAT_TOKEN' })
  const { plugins } = installation.app
  const named = (key_env: string) => pluginAt('https://chat.example', { auth: { header: 'X-Key', key_env } })
  assert.ok(plugins.validate(named('MY_TOKEN')))
  for (const name of ['JWT_SECRET', 'AICHAT_TOKEN', 'PATH', 'DEFAULT_ADMIN_PASSWORD', 'HF_TOKEN', 'JWT_API_KEY'])
    assert.match(
      problemsOf(() => plugins.validate(named(name))),
      /^auth\.key_env: names a variable of aichat or of the machine/,
      name,
    )
  return installation.close()
})

test('PLUGIN_ALLOW_PRIVATE=false refuses addresses of the inside at install', async () => {
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
    const document = pluginAt('https://x.example', { endpoint, auth: { header: '', key_env: '' } })
    assert.is(
      await plugins.install(document).then(
        () => '',
        (reason: AppError) => reason.details.join('\n'),
      ),
      'endpoint: private addresses are switched off (PLUGIN_ALLOW_PRIVATE)',
      endpoint,
    )
  }
  await installation.close()
})

test('a plugin that points at this aichat itself is not asked: it would ask itself for ever', async () => {
  const installation = openInstallation({ CUSTOM_API_KEY: key })
  const url = await installation.serve()
  installation.app.ownPorts.add(Number(new URL(url).port))
  await installation.app.plugins.install(pluginAt(url))
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
  await installation.app.plugins.install(pluginAt(stand.url))
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
  const home = openFastHome()
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
  const home = openFastHome()
  writeFileSync(join(home.folder, 'secrets.json'), '{"CUSTOM_API_KEY":"x"}', { mode: 0o644 })
  const { code, stderr } = await home.aichat(['plugin', 'list'])
  assert.is(code, 78)
  assert.match(stderr, /chmod 600/)
  home.remove()
})

test('no key is printed, even if a provider echoes it, at any verbosity', async () => {
  const stand = await openStandIn((request, response) =>
    json(response, 401, {
      error: { message: `You sent ${String(request.headers['authorization'])}`, code: 'invalid_api_key' },
    }),
  )
  const home = openFastHome({ CUSTOM_API_KEY: key })
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
