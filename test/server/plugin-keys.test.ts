import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the keys of plugins over HTTP')

const key = 'sk-canary-of-the-console-0123456789'

test('a key is stored, used by the next chat, never given back, and removed', async () => {
  await using provider = await openStandIn((_request, response) => json(response, 200, completion('Read')))
  await using installation = openInstallation({})
  const url = await installation.serve()
  const said: string[] = []
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    said.push(text)
    return { status: response.status, body: JSON.parse(text) }
  }
  const document = pluginAt(provider.url, { auth: { header: 'Authorization', key_env: 'CUSTOM_API_KEY' } })
  assert.is((await send('POST', '/api/plugins/install', document)).status, 201)
  assert.is((await send('GET', '/api/plugins/custom')).body.state, 'key_missing')

  const stored = await send('PUT', '/api/plugins/custom/key', { key: `  ${key}\n` })
  assert.equal([stored.status, stored.body.key_env], [200, 'CUSTOM_API_KEY'])
  assert.ok(['keychain', 'file'].includes(stored.body.stored))
  assert.is((await send('GET', '/api/plugins/custom')).body.state, 'ready')
  const chat = await send('POST', '/api/chat', {
    model: 'custom:custom-model',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  assert.is(chat.status, 200, JSON.stringify(chat.body))
  assert.ok(JSON.stringify(provider.received.at(-1)!.headers).includes(key), 'the provider got the key')

  const audit = (await send('GET', '/api/audit?action=plugins.set_key')).body.entries
  assert.equal([audit.length, audit[0].subject], [1, 'custom'])
  for (const path of ['/api/plugins/custom', '/api/plugins/custom/export', '/api/plugins/status/all'])
    await send('GET', path)
  assert.not.match(said.join('\n'), key)
  for (const file of filesBelow(installation.home).filter((name) => !name.includes('secrets')))
    assert.not.match(readFileSync(file, 'latin1'), key, file)

  const removed = await send('DELETE', '/api/plugins/custom/key')
  assert.equal([removed.status, removed.body.removed, removed.body.from], [200, true, null])
  assert.is((await send('GET', '/api/plugins/custom')).body.state, 'key_missing')
  assert.is((await send('DELETE', '/api/plugins/custom/key')).body.removed, false)
})

test('a key that cannot be one, a plugin without keys and an unknown plugin are refused', async () => {
  await using installation = openInstallation({})
  const url = await installation.serve()
  const put = async (id: string, body: unknown) =>
    fetch(`${url}/api/plugins/${id}/key`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  for (const wrong of ['', '   ', 'two words', 'line\nbreak', 'schlüssel', 'x'.repeat(5_000)]) {
    const response = await put('openai', { key: wrong })
    assert.ok([400, 422].includes(response.status), `${response.status} ${JSON.stringify(wrong.slice(0, 20))}`)
    if (wrong.trim() !== '') assert.not.ok((await response.text()).includes(wrong), 'the refusal does not repeat it')
  }
  assert.is((await put('voxa-tts', { key })).status, 400)
  assert.is((await put('nothing', { key })).status, 404)
})

test('a variable of the service goes before a stored key, and the answer says so', async () => {
  await using installation = openInstallation({ OPENAI_API_KEY: 'sk-of-the-environment-0123456789' })
  const url = await installation.serve()
  const response = await fetch(`${url}/api/plugins/openai/key`, {
    method: 'PUT',
    body: JSON.stringify({ key }),
    headers: { 'content-type': 'application/json' },
  })
  assert.is(((await response.json()) as { from: string }).from, 'environment')
})

test.run()

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
