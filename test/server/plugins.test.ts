import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readSettings } from '../../src/settings/read-settings.ts'
import { pluck } from '../helpers/pluck.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the plugin routes')

test('list shows the ten bundled plugins with what this installation knows of them', () =>
  withApi(async ({ get }) => {
    const { status, body } = await get('/api/plugins')
    assert.is(status, 200)
    const { plugins } = body as { plugins: { id: string; state: string; source: string; active: boolean }[] }
    assert.equal(pluck(plugins, 'id'), [
      'anthropic',
      'gemini',
      'github',
      'groq',
      'mistral',
      'openai',
      'openrouter',
      'voxa-tts',
      'voxb-tts-1.6b',
      'voxb-tts',
    ])
    assert.is(plugins.find(({ id }) => id === 'github')!.state, 'retired')
    assert.is(plugins.find(({ id }) => id === 'openai')!.state, 'key_missing')
    assert.is(plugins.find(({ id }) => id === 'voxa-tts')!.state, 'ready')
    assert.ok(plugins.every(({ source, active }) => source === 'bundled' && !active))
  }))

test('there are as many plugins as the operator allows, and 500 where nothing else is said', async () => {
  const most = 12
  await withApi(
    async ({ send }) => {
      const named = (id: string) => pluginAt('https://chat.example', { id })
      const install = (id: string, query = '') => send('POST', `/api/plugins/install${query}`, named(id))
      for (let at = 10; at < most; at++) assert.is((await install(`p${at}`)).status, 201)
      const refused = await install('one-more')
      assert.equal(
        [refused.status, (refused.body as { error: string }).error],
        [400, `The limit of ${most} plugins is reached`],
      )
      assert.match((refused.body as { details: string[] }).details[0]!, /PLUGIN_LIMIT \(plugins\.limit\)/)
      assert.is((await install('groq', '?replace=true')).status, 201, 'what is there may be replaced')
      assert.is((await install(`p${most - 1}`, '?replace=true')).status, 201)
      assert.is((await send('DELETE', '/api/plugins/mistral')).status, 200)
      assert.is((await install('one-more')).status, 201)
    },
    { PLUGIN_LIMIT: String(most) },
  )
  assert.is(readSettings({ AICHAT_HOME: '/nonexistent' }, {}).pluginLimit, 500)
})

test('install, show, update, export and delete a plugin', () =>
  withApi(async ({ get, send, home }) => {
    const document = pluginAt('https://chat.example', { description: 'mine', note: 'an unknown field is kept' })
    const installed = await send('POST', '/api/plugins/install', document)
    assert.is(installed.status, 201)
    assert.is((installed.body as { source: string }).source, 'user')
    assert.ok(existsSync(join(home, 'plugins', 'custom.json')))

    const shown = await get('/api/plugins/custom')
    assert.is((shown.body as { note: string }).note, 'an unknown field is kept')

    const updated = await send('PUT', '/api/plugins/custom', { ...document, name: 'Renamed' })
    assert.is(updated.status, 200)
    assert.is((updated.body as { name: string }).name, 'Renamed')

    const exported = await get('/api/plugins/custom/export')
    assert.equal(exported.body, { ...document, name: 'Renamed' })
    assert.is(exported.headers.get('content-disposition'), 'attachment; filename="custom.json"')

    assert.equal((await send('DELETE', '/api/plugins/custom')).body, { id: 'custom', removed: true, restored: false })
    assert.is((await get('/api/plugins/custom')).status, 404)
  }))

test('an id that is taken is refused, unless it is to be replaced', () =>
  withApi(async ({ send }) => {
    const document = pluginAt('https://chat.example')
    await send('POST', '/api/plugins/install', document)
    assert.is((await send('POST', '/api/plugins/install', document)).status, 400)
    assert.is((await send('POST', '/api/plugins/install?replace=true', document)).status, 201)
  }))

test('upload takes the document as a file part', () =>
  withApi(async ({ url }) => {
    const form = new FormData()
    form.set('file', new Blob([JSON.stringify(pluginAt('https://chat.example'))]), 'x.json')
    const response = await fetch(`${url}/api/plugins/upload`, { method: 'POST', body: form })
    assert.is(response.status, 201)
    assert.is(((await response.json()) as { id: string }).id, 'custom')
  }))

test('changing a bundled plugin makes an overlay, deleting the overlay brings the bundled one back', () =>
  withApi(async ({ get, send }) => {
    const { body } = await get('/api/plugins/groq/export')
    const changed = await send('PUT', '/api/plugins/groq', { ...(body as object), name: 'My Groq' })
    assert.is((changed.body as { overridden: boolean }).overridden, true)
    assert.equal((await send('DELETE', '/api/plugins/groq')).body, { id: 'groq', removed: true, restored: true })
    assert.is(((await get('/api/plugins/groq')).body as { name: string }).name, 'Groq')
  }))

test('deleting a bundled plugin hides it until it is installed again', () =>
  withApi(async ({ get, send }) => {
    const { body } = await get('/api/plugins/groq/export')
    await send('DELETE', '/api/plugins/groq')
    assert.is((await get('/api/plugins/groq')).status, 404)
    const again = await send('POST', '/api/plugins/install', body)
    assert.is(again.status, 201)
    assert.is((again.body as { source: string }).source, 'bundled')
    assert.is((again.body as { overridden: boolean }).overridden, false)
  }))

test('one plugin of a kind is active; activating another replaces it, and kinds do not disturb each other', () =>
  withApi(async ({ get, send }) => {
    const first = await send('POST', '/api/plugins/activate/groq')
    assert.is(first.status, 200)
    assert.match((first.body as { warnings: string[] }).warnings[0]!, /GROQ_API_KEY is not set/)
    await send('POST', '/api/plugins/activate/voxb-tts')
    await send('POST', '/api/plugins/activate/mistral')
    assert.is(((await get('/api/plugins/active/current')).body as { id: string }).id, 'mistral')
    assert.is(((await get('/api/plugins/active/current?type=tts')).body as { id: string }).id, 'voxb-tts')
    assert.equal((await send('POST', '/api/plugins/deactivate')).body, { deactivated: 'mistral' })
    assert.equal((await send('POST', '/api/plugins/deactivate')).body, { deactivated: null })
    assert.is((await get('/api/plugins/active/current')).body, null)
    assert.is(((await get('/api/plugins/active/current?type=tts')).body as { id: string }).id, 'voxb-tts')
  }))

test('deleting the active plugin deactivates it', () =>
  withApi(async ({ get, send }) => {
    await send('POST', '/api/plugins/install', pluginAt('https://chat.example'))
    await send('POST', '/api/plugins/activate/custom')
    await send('DELETE', '/api/plugins/custom')
    assert.is((await get('/api/plugins/active/current')).body, null)
  }))

test('status tells of every plugin whether it can be used', () =>
  withApi(async ({ get }) => {
    const { plugins } = (await get('/api/plugins/status/all')).body as { plugins: Record<string, unknown>[] }
    assert.equal(plugins[0], {
      id: 'anthropic',
      name: 'Anthropic',
      type: 'completion',
      active: false,
      state: 'key_missing',
      key_env: 'ANTHROPIC_API_KEY',
      key_set: false,
      last_error: null,
      last_used_at: null,
      circuit: 'closed',
    })
  }))

test('all problems of an invalid plugin are named together, with their path, and nothing is stored', () =>
  withApi(async ({ send, home }) => {
    const { status, body } = await send('POST', '/api/plugins/install', {
      id: '../up',
      type: 'chit-chat',
      endpoint: 'ftp://x',
      auth: { header: 'X-Key\r\nEvil: 1', prefix: 1, key_env: 'JWT_SECRET' },
      model_map: ['ok', '../../etc/passwd'],
      timeouts: { total: -1 },
    })
    assert.is(status, 400)
    const { error, details } = body as { error: string; details: string[] }
    assert.is(error, 'Invalid plugin')
    for (const path of [
      'id',
      'name',
      'type',
      'endpoint',
      'auth.header',
      'auth.prefix',
      'auth.key_env',
      'model_map.1',
      'timeouts.total',
    ]) {
      assert.ok(
        details.some((line) => line.startsWith(`${path}: `)),
        `${path} is not named in ${details.join(' | ')}`,
      )
    }
    assert.equal(existsSync(join(home, 'plugins')) ? readdirSync(join(home, 'plugins')) : [], [])
  }))

const hostile: readonly (readonly [what: string, change: Record<string, unknown>])[] = [
  ['an id with a slash', { id: 'a/b' }],
  ['an id that climbs', { id: '..' }],
  ['a reserved id', { id: 'activate' }],
  ['a prototype’s name as id', { id: '__proto__' }],
  ['an endpoint that is no address', { endpoint: 'not a url' }],
  ['an endpoint with another scheme', { endpoint: 'file:///etc/passwd' }],
  ['an endpoint with a password', { endpoint: 'https://user:pass@chat.example/' }],
  ['the metadata address', { endpoint: 'http://169.254.169.254/latest/meta-data' }],
  ['the metadata address in IPv6 clothes', { endpoint: 'http://[::ffff:169.254.169.254]/' }],
  ['the metadata address as one number', { endpoint: 'http://2852039166/' }],
  ['the metadata name', { endpoint: 'http://metadata.google.internal/' }],
  ['a link-local address', { endpoint: 'http://[fe80::1]/' }],
  ['the unspecified address', { endpoint: 'http://0.0.0.0/' }],
  ['a header with a line break', { auth: { header: 'A\nB', key_env: 'CUSTOM_API_KEY' } }],
  ['a header of the connection', { auth: { header: 'Host', key_env: 'CUSTOM_API_KEY' } }],
  ['a prefix with a line break', { auth: { header: 'X', prefix: 'a\r\nb', key_env: 'CUSTOM_API_KEY' } }],
  ['a secret of ours as key', { auth: { header: 'X', key_env: 'JWT_SECRET' } }],
  ['a variable that is no key', { auth: { header: 'X', key_env: 'DATABASE_PASSWORD' } }],
  ['a key in the place of its name', { auth: { header: 'X', key_env: 'sk-proj-abcdefghijklmnop' } }],
  ['another provider’s key for a foreign host', { auth: { header: 'X', key_env: 'OPENAI_API_KEY' } }],
  ['a key over plain http to a public host', { endpoint: 'http://chat.example/v1/chat/completions' }],
  ['a secret as a fixed header', { headers: { 'x-token': 'sk-abcdefghijklmnopqrstuvwx' } }],
  ['no models', { model_map: [] }],
  ['a model name with control characters', { model_map: ['a\u0000b'] }],
  ['a list that catches fire', { models_source: { url: 'https://chat.example', drop: ['(a+)+$'] } }],
]

for (const [what, change] of hostile) {
  test(`${what} is refused`, () =>
    withApi(async ({ send, get }) => {
      const { status, body } = await send('POST', '/api/plugins/install', pluginAt('https://chat.example', change))
      assert.is(status, 400, JSON.stringify(body))
      assert.ok((body as { details: string[] }).details.length > 0)
      assert.is((await get('/api/plugins/custom')).status, 404)
    }))
}

test('a broken file in the data folder is reported and stops no other plugin', () =>
  withApi(async ({ get, home, send }) => {
    await send('POST', '/api/plugins/install', pluginAt('https://chat.example'))
    const { writeFileSync } = await import('node:fs')
    writeFileSync(join(home, 'plugins', 'broken.json'), '{"id": ')
    writeFileSync(join(home, 'plugins', 'wrong.json'), '{"id": "wrong"}')
    const { plugins, broken } = (await get('/api/plugins')).body as { plugins: unknown[]; broken: { id: string }[] }
    assert.is(plugins.length, 11)
    assert.equal(pluck(broken, 'id'), ['broken', 'wrong'])
  }))

test.run()

type Reply = { readonly status: number; readonly headers: Headers; readonly body: unknown }

async function withApi(
  run: (api: {
    url: string
    home: string
    get: (path: string) => Promise<Reply>
    send: (method: string, path: string, body?: unknown) => Promise<Reply>
  }) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  await using installation = openInstallation(environment)
  const url = await installation.serve()
  const send = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  await run({ url, home: installation.home, get: (path) => send('GET', path), send })
}
