import * as assert from 'uvu/assert'
import { digestOfKey, makeKeyText } from '../../src/accounts/keys/key-text.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import { completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { openKeyDaemon, withKeyDaemon } from './key-daemon.ts'

const test = suite('API keys over HTTP')
const chat = { model: 'm-one', messages: [{ role: 'user', content: 'Hi' }] }

test('the secret is in the answer that made it, and no later answer has it', () =>
  withKeyDaemon(async ({ call, key, bob }) => {
    const made = await key(bob, { name: 'ci', expires_in: '90d', models: ['m-*'], plugins: ['custom'] })
    const { secret, ...rest } = made as Record<string, unknown> & typeof made
    assert.match(secret, /^aic_[0-9A-Za-z]{38}$/)
    assert.is(rest.last4, secret.slice(-4))
    assert.equal(rest['scopes'], ['chat', 'embeddings', 'speech', 'models'])
    assert.is(rest['expires_at'], (rest['created_at'] as number) + 90 * 86_400_000)
    const shown = await call('GET', `/api/keys/${made.id}`, bob)
    assert.equal(shown.body, rest)
    const listed = await call('GET', '/api/keys', bob)
    assert.equal(listed.body, { keys: [rest], total: 1 })
    const changed = await call('PUT', `/api/keys/${made.id}`, { ...bob, body: { name: 'ci 2', models: null } })
    assert.equal([changed.status, changed.body.name, changed.body.models], [200, 'ci 2', undefined])
    const revoked = await call('DELETE', `/api/keys/${made.id}`, bob)
    assert.equal([revoked.status, revoked.body], [200, { id: made.id, revoked: true }])
    assert.is((await call('GET', `/api/keys/${made.id}`, bob)).body.state, 'revoked')
    for (const { body } of [shown, listed, changed, revoked]) assert.not(JSON.stringify(body).includes(secret))
  }))

test('wrong input is 400 and names the field', () =>
  withKeyDaemon(async ({ call, key, bob }) => {
    const { id } = await key(bob)
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ models: [] }, /models: must hold at least one entry/],
      [{ plugins: [] }, /plugins: must hold at least one entry/],
      [{ personas: [] }, /personas: must hold at least one entry/],
      [{ scopes: [] }, /scopes: must hold at least one scope/],
      [{ scopes: ['admin'] }, /scopes/],
      [{ model: ['m-one'] }, /model/],
      [{ models: Array(101).fill('m') }, /models/],
      [{ models: ['x'.repeat(201)] }, /models/],
      [{ models: ['llama3:8b'] }, /\*:llama3:8b/],
      [{ plugins: ['opnai'] }, /"opnai" is not installed/],
      [{ personas: ['Nobody'] }, /no persona "Nobody"/],
      [{ name: 'a\nb' }, /name/],
      [{ name: '' }, /name/],
      [{ name: 'x'.repeat(101) }, /name/],
      [{ expires_in: 'soon' }, /expires_in/],
      [{ expires_in: 0 }, /expires_in/],
      [{ expires_in: -1 }, /expires_in/],
      [{ expires_in: 1e300 }, /expires_in/],
    ]
    for (const [body, words] of wrong)
      for (const [method, path] of [
        ['POST', '/api/keys'],
        ['PUT', `/api/keys/${id}`],
      ] as const) {
        const answer = await call(method, path, { ...bob, body })
        assert.is(answer.status, 400, `${method} ${JSON.stringify(body).slice(0, 100)}`)
        assert.match(JSON.stringify(answer.body.details).replaceAll('\\"', '"'), words)
      }
    for (const overlap of ['8d', -1, 'x', 7 * 86_400 + 1])
      assert.is((await call('POST', `/api/keys/${id}/rotate`, { ...bob, body: { overlap } })).status, 400, `${overlap}`)
    for (const overlap of ['0', 0, '0s', '7d', 3600])
      assert.is((await call('POST', `/api/keys/${id}/rotate`, { ...bob, body: { overlap } })).status, 200, `${overlap}`)
    assert.is((await call('GET', '/api/keys', bob)).body.total, 1)
  }))

test('users see and change their own keys; administrators all, and make keys for others', () =>
  withKeyDaemon(async ({ call, key, ada, bob }) => {
    const [hers, his] = [await key(ada), await key(bob)]
    for (const [method, path] of [
      ['GET', `/api/keys/${hers.id}`],
      ['PUT', `/api/keys/${hers.id}`],
      ['DELETE', `/api/keys/${hers.id}`],
      ['POST', `/api/keys/${hers.id}/rotate`],
    ] as const) {
      const answer = await call(method, path, { ...bob, ...(method !== 'GET' && { body: {} }) })
      const unknown = await call(method, path.replace(hers.id, 'nope'), {
        ...bob,
        ...(method !== 'GET' && { body: {} }),
      })
      assert.equal([answer.status, unknown.status], [404, 404], `${method} ${path}`)
    }
    const idsOf = async (user: typeof bob, query = '') => {
      const { status, body } = await call('GET', `/api/keys${query}`, user)
      return status === 200 ? body.keys.map(({ id }: { id: string }) => id) : status
    }
    assert.equal(await idsOf(bob), [his.id])
    assert.equal(await idsOf(bob, `?user_id=${bob.id}`), [his.id])
    for (const query of ['?all=true', `?user_id=${ada.id}`]) assert.is(await idsOf(bob, query), 403)
    assert.equal(await idsOf(ada), [hers.id])
    assert.equal(await idsOf(ada, '?all=true'), [hers.id, his.id])
    assert.equal(await idsOf(ada, `?user_id=${bob.id}`), [his.id])
    assert.is((await call('POST', '/api/keys', { ...bob, body: { user_id: ada.id } })).status, 403)
    const forBob = await key(ada, { user_id: bob.id })
    assert.equal(await idsOf(bob), [his.id, forBob.id])
    const { body: self } = await call('GET', `/api/keys/${forBob.id}`, ada)
    assert.equal([self.user_id, self.username], [bob.id, 'bob'])
    assert.is((await call('POST', '/api/keys', { ...ada, body: { user_id: 'nobody' } })).status, 400)
    assert.is((await call('DELETE', `/api/keys/${his.id}`, ada)).status, 200)
  }))

test('every text that is no live key is 401 with OpenAI’s code, and does not come back in the answer', () =>
  withKeyDaemon(async ({ call, key, ada, bob, accounts, installation }) => {
    const revoked = await key(bob)
    await call('DELETE', `/api/keys/${revoked.id}`, bob)
    const live = await key(ada)
    const eve = await accounts.users.create({ username: 'eve', password: goodPassword, role: 'user' })
    const orphan = await key(ada, { user_id: eve.id })
    await accounts.users.remove(eve.id)
    const expired = await key(bob)
    await (await installation.app.apiKeys()).update(expired.id, { expires_at: Date.now() - 60_000 })
    const wrongSum = live.secret.slice(0, -1) + (live.secret.endsWith('0') ? '1' : '0')
    for (const [token, words] of [
      [makeKeyText(), /not known here/],
      [revoked.secret, /was revoked on \d{4}-\d\d-\d\d \d\d:\d\d UTC/],
      [expired.secret, /expired on \d{4}/],
      [orphan.secret, /owner of the API key was removed/],
      [wrongSum, /misspelt or cut off/],
      [live.secret.slice(0, -3), /not an API key/],
      ["aic_'OR'1'='1';--", /not an API key/],
      [digestOfKey(live.secret), /The token is not valid/],
      [`aic_${digestOfKey(live.secret)}`, /not an API key/],
      ["'OR'1'='1", /The token is not valid/],
    ] as const) {
      const { status, headers, body } = await call('POST', '/v1/chat/completions', { token, body: chat })
      assert.is(status, 401, token)
      assert.equal([body.error.code, body.error.type], ['invalid_api_key', 'authentication_error'])
      assert.match(body.error.message, words)
      assert.not(JSON.stringify(body).includes(token))
      assert.is(headers.get('x-should-retry'), 'false')
      assert.is(headers.get('www-authenticate'), 'Bearer realm="api", error="invalid_token"')
      const rest = await call('GET', '/api/chat/models', { token })
      assert.is(rest.status, 401)
      const anthropic = await call('POST', '/v1/messages', { headers: { 'x-api-key': token }, body: chat })
      assert.equal([anthropic.status, anthropic.body.error.type], [401, 'authentication_error'])
      assert.is(anthropic.headers.get('x-should-retry'), 'false')
    }
    assert.is((await call('POST', '/v1/chat/completions', { body: chat })).body.error.code, 'invalid_api_key')
  }))

test('a key is a bearer, or x-api-key for Anthropic’s clients: not in a query, a cookie or on other routes', async () => {
  await using daemon = await openKeyDaemon({ provider: (_, response) => json(response, 200, completion('Hello')) })
  const { call, key, bob } = daemon
  const { secret } = await key(bob)
  const message = { ...chat, max_tokens: 10 }
  const status = async (path: string, headers: Record<string, string>, body?: object) =>
    (await call(body ? 'POST' : 'GET', path, { headers, ...(body && { body }) })).status
  assert.is(await status('/v1/models', { 'x-api-key': secret }), 200)
  assert.is(await status('/v1/messages', { 'x-api-key': secret }, message), 200)
  assert.is(await status('/v1/messages/count_tokens', { 'x-api-key': secret }, message), 200)
  assert.is(await status('/v1/chat/completions', { 'x-api-key': secret }, chat), 401)
  assert.is(await status('/api/chat/models', { 'x-api-key': secret }), 401)
  assert.is(await status(`/v1/models?key=${secret}`, {}), 401)
  assert.is(await status(`/v1/models?api_key=${secret}`, { cookie: `token=${secret}` }), 401)
  assert.is(await status('/v1/models', { authorization: `Basic ${secret}` }), 401)
  assert.is(await status('/v1/models', { authorization: `bearer ${secret}` }), 200)
})

test('in single-user mode a key works for the default administrator alone', async () => {
  await using daemon = await openKeyDaemon({ environment: { SINGLE_USER_MODE: 'true', DEFAULT_ADMIN_USERNAME: 'ada' } })
  const { call, accounts, installation } = daemon
  const keys = await installation.app.apiKeys()
  const other = await accounts.users.create({ username: 'eve', password: goodPassword, role: 'admin' })
  const own = (await accounts.local())!.user
  const [hers, his] = [await keys.create({ owner: own.id }), await keys.create({ owner: other.id })]
  assert.is((await call('GET', '/v1/models', { token: hers.secret })).status, 200)
  const refused = await call('GET', '/v1/models', { token: his.secret })
  assert.is(refused.status, 403)
  assert.match(JSON.stringify(refused.body), /single-user mode/)
})

test('a new password leaves keys alive and counts them, unless they are to be revoked', () =>
  withKeyDaemon(async ({ call, key, ada, bob }) => {
    const [one, two] = [await key(bob), await key(bob)]
    const reset = await call('POST', '/api/auth/reset-password', {
      ...ada,
      body: { user_id: bob.id, new_password: 'Passw1rd' },
    })
    assert.equal([reset.body.live_keys, reset.body.revoked_keys], [2, 0])
    assert.is((await call('GET', '/v1/models', { token: one.secret })).status, 200)
    const { token } = (await call('POST', '/api/auth/login', { body: { username: 'bob', password: 'Passw1rd' } })).body
    const changed = await call('POST', '/api/auth/change-password', {
      token,
      body: { current_password: 'Passw1rd', new_password: 'Passw2rd', revoke_keys: true },
    })
    assert.equal([changed.status, changed.body.live_keys, changed.body.revoked_keys], [200, 0, 2])
    for (const { secret } of [one, two]) assert.is((await call('GET', '/v1/models', { token: secret })).status, 401)
  }))

test.run()
