import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Answered, type CallOptions, goodPassword, removeHome, serveHere } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the text of a key')

test('stands in the answer that made it, and in no other answer, log, error, audit row or file', async () => {
  const provider = await openStandIn((_, response) => json(response, 200, completion('Hello')))
  const daemon = await serveHere({ AICHAT_LOG_LEVEL: 'debug', CUSTOM_API_KEY: 'sk-test-123456' })
  const later: string[] = []
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answered> => {
    const answer = await daemon.call(method, path, options)
    later.push(JSON.stringify([answer.body, ...answer.headers]))
    return answer
  }
  const secrets: string[] = []
  /** Calls a route that tells a secret, and keeps it. */
  const made = async (path: string, token: string, body: object): Promise<string> => {
    const answer = await daemon.call('POST', path, { token, body })
    secrets.push(answer.body.secret)
    assert.is(JSON.stringify(answer.body).split(answer.body.secret).length, 2, 'told once')
    return answer.body.id
  }
  try {
    const { body: login } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: goodPassword },
    })
    const { token } = login
    await call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
    await call('POST', '/api/plugins/activate/custom', { token })
    const id = await made('/api/keys', token, { name: 'canary' })
    await made(`/api/keys/${id}/rotate`, token, { overlap: '1h' })
    const chat = { model: 'custom-model', messages: [{ role: 'user', content: 'Hi' }] }
    const useAll = async () => {
      for (const secret of secrets) {
        await call('POST', '/v1/chat/completions', { token: secret, body: chat })
        await call('POST', '/v1/messages', { headers: { 'x-api-key': secret }, body: { ...chat, max_tokens: 9 } })
        await call('POST', '/v1/chat/completions', { token: secret, body: { ...chat, messages: [] } })
        await call('POST', '/v1/chat/completions', { token: `${secret}x`, body: chat })
        await call('POST', '/v1/chat/completions', { token: `${secret.slice(0, -1)}`, body: chat })
        await call('GET', `/v1/models?key=${secret}`, {})
        await call('GET', `/api/auth/me?token=${secret}`, { token: secret, headers: { cookie: `key=${secret}` } })
        await call('GET', `/api/keys/${secret.slice(4)}`, { token: secret })
        await call('GET', '/nowhere', { token: secret })
      }
    }
    await useAll()
    for (const path of ['/api/keys', `/api/keys/${id}`, '/api/users', '/metrics', '/openapi.json'])
      await call('GET', path, { token })
    await call('PUT', `/api/keys/${id}`, { token, body: { name: 'renamed' } })
    await call('DELETE', `/api/keys/${id}`, { token })
    await useAll()
    const received = JSON.stringify(provider.received)
    await daemon.stop()

    const storage = await openStorageIn(daemon.home)
    const row = await storage.keys.find(id)
    await storage.close()
    assert.ok(row?.last_used_at, 'the uses were written when the daemon stopped')
    const files = readdirSync(daemon.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name)).toString('latin1')] as const)
    assert.ok(
      files.some(([, content]) => content.includes(id)),
      'the database was searched',
    )
    const { stdout, stderr } = daemon.output
    assert.match(stderr, /request/)
    // Also no part of it that would spare a guess.
    for (const secret of secrets)
      for (const [where, text] of [
        ['answers', later.join('\n')],
        ['stdout', stdout],
        ['stderr', stderr],
        ['provider', received],
        ...files,
      ])
        for (const part of [secret, secret.slice(4, 36), secret.slice(4, 20)])
          assert.not(text!.includes(part), `${part} stands in ${where}`)
  } finally {
    await provider.close()
    removeHome(daemon)
  }
})

test.run()
