import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { completionEvents } from '../helpers/providers/fake-provider.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'
import { type KeyDaemon, withKeyDaemon } from './key-daemon.ts'

const test = suite('open streams and their API keys')

type Made = { readonly id: string; readonly secret: string }

/** Everything that ends a key while its answer is being streamed, and the reason that the stream tells. */
const endings: readonly (readonly [string, RegExp, (daemon: KeyDaemon, key: Made) => Promise<unknown>])[] = [
  ['its revocation', /was revoked on/, ({ call, bob }, { id }) => call('DELETE', `/api/keys/${id}`, bob)],
  [
    'its expiry',
    /expired on/,
    async ({ installation }, { id }) => (await installation.app.apiKeys()).update(id, { expires_at: Date.now() + 100 }),
  ],
  [
    'the end of its rotated secret',
    /was rotated/,
    ({ call, bob }, { id }) => call('POST', `/api/keys/${id}/rotate`, { ...bob, body: { overlap: 0 } }),
  ],
  [
    'the removal of its owner',
    /owner of the API key was removed/,
    ({ accounts, bob }) => accounts.users.remove(bob.id),
  ],
  [
    'a new password that revokes keys',
    /was revoked on/,
    async ({ call, ada, bob }) =>
      call('POST', '/api/auth/reset-password', { ...ada, body: { user_id: bob.id, revoke_keys: true } }),
  ],
  [
    'its revocation by another process',
    /was revoked on/,
    async ({ home }, { id }) => {
      const storage = await openStorageIn(home)
      assert.ok(await storage.keys.revoke(id, Date.now()))
      await storage.close()
    },
  ],
]

for (const [what, reason, end] of endings)
  test(`${what} cuts a stream in each dialect with a typed error, and stops the provider`, () =>
    withStreams(async (daemon, key, streams) => {
      await end(daemon, key)
      const [api, openai, anthropic] = await Promise.all(streams.map((stream) => stream.rest()))
      for (const text of [api!, openai!, anthropic!]) {
        assert.match(text, reason)
        assert.not.match(text, /\[DONE\]|message_stop/)
        assert.not(text.includes(key.secret))
      }
      assert.match(api!, /event: error\ndata: .*"code":"key_revoked".*"status":401/)
      assert.match(openai!, /"error":\{[^}]*"code":"key_revoked"/)
      assert.match(anthropic!, /event: error\ndata: .*"type":"authentication_error"/)
      await until(() => daemon.provider.received.every(({ cancelled }) => cancelled))
      assert.is((await daemon.call('GET', '/v1/models', { token: key.secret })).status, 401)
    }))

test('streams go on when another key ends, when the key is rotated with an overlap, and when its owner logs out', () =>
  withStreams(async ({ call, key, bob }, { id }, streams, finish) => {
    const other = await key(bob)
    await call('DELETE', `/api/keys/${other.id}`, bob)
    await call('POST', `/api/keys/${id}/rotate`, { ...bob, body: { overlap: '1h' } })
    await call('PUT', `/api/keys/${id}`, { ...bob, body: { name: 'new', scopes: ['models'] } })
    await call('POST', '/api/auth/logout', bob)
    finish()
    const texts = await Promise.all(streams.map((stream) => stream.rest()))
    for (const text of texts) assert.match(text, /\[DONE\]|message_stop/)
  }))

test.run()

interface OpenStream {
  /** The rest after the first piece. */
  rest(): Promise<string>
}

/** A key of bob's, and a stream of it in each dialect of which the first piece has arrived; `finish` lets them end well. */
async function withStreams(
  work: (daemon: KeyDaemon, key: Made, streams: readonly OpenStream[], finish: () => void) => Promise<void>,
): Promise<void> {
  const [first, second, ...rest] = completionEvents(['one ', 'two'])
  const waiting: ServerResponse[] = []
  await withKeyDaemon(
    async (daemon) => {
      const key = await daemon.key(daemon.bob)
      const streams: OpenStream[] = []
      for (const path of ['/api/chat', '/v1/chat/completions', '/v1/messages'])
        streams.push(await openStream(`${daemon.url}${path}`, key.secret))
      await work(daemon, key, streams, () => {
        for (const response of waiting) response.end(rest.join(''))
      })
    },
    {
      provider(_, response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`${first}${second}`)
        waiting.push(response)
      },
    },
  )
}

async function openStream(url: string, secret: string): Promise<OpenStream> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      model: 'm-one',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 100,
      stream: true,
    }),
  })
  assert.is(response.status, 200)
  const reader = response.body!.getReader()
  await reader.read()
  return {
    async rest() {
      let text = ''
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        text += Buffer.from(piece.value).toString('utf8')
      return text
    },
  }
}
