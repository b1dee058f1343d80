import * as assert from 'uvu/assert'
import { goodPassword, openDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the account routes')

const credentials = { username: 'ada', password: goodPassword }

test('the first to register is the administrator and logged in', () =>
  withDaemon(async ({ call }) => {
    const { status, body } = await call('POST', '/api/auth/register', {
      body: { ...credentials, email: 'ada@example.org', role: 'user', id: 'chosen', created_at: 1 },
    })
    assert.is(status, 201)
    assert.equal(Object.keys(body).sort(), ['expires_at', 'expires_in', 'token', 'token_type', 'user'])
    assert.equal([body.token_type, body.expires_in], ['Bearer', 604_800])
    assert.ok(Math.abs(body.expires_at - Date.now() - 604_800_000) < 60_000)
    assert.equal(Object.keys(body.user).sort(), ['created_at', 'email', 'id', 'role', 'updated_at', 'username'])
    assert.equal([body.user.role, body.user.email], ['admin', 'ada@example.org'])
    assert.is.not(body.user.id, 'chosen')
    const me = await call('GET', '/api/auth/me', { token: body.token })
    assert.equal(me.body, {
      ...body.user,
      user: body.user,
      must_change_password: false,
      session: { expires_at: body.expires_at },
    })
  }))

test('a later one is a user, whatever role they ask for', () =>
  withDaemon(async ({ call, register }) => {
    await register('admin')
    const { body } = await call('POST', '/api/auth/register', { body: { ...credentials, role: 'admin' } })
    assert.is(body.user.role, 'user')
  }))

test('registering says every problem at once, and that a name is taken', () =>
  withDaemon(async ({ call, register }) => {
    await register('ada')
    const bad = await call('POST', '/api/auth/register', { body: { username: 'a@b', password: 'x', email: 'y' } })
    assert.equal([bad.status, bad.body.details.length], [400, 5])
    const taken = await call('POST', '/api/auth/register', { body: { ...credentials, username: 'ADA' } })
    assert.is(taken.status, 400)
    assert.equal(taken.body.details, ['username: is taken'])
    const missing = await call('POST', '/api/auth/register', { body: {} })
    assert.equal(missing.body.details, ['username: is missing', 'password: is missing'])
  }))

test('setup is for the first user alone', () =>
  withDaemon(async ({ call }) => {
    assert.is((await call('POST', '/api/auth/setup', { body: credentials })).status, 201)
    assert.is((await call('POST', '/api/auth/setup', { body: { ...credentials, username: 'bob' } })).status, 400)
  }))

test('the first user is created on this machine, or with the token that was printed on it', () =>
  withDaemon(async ({ call }) => {
    const remote = { 'x-forwarded-for': '198.51.100.7' }
    for (const path of ['/api/auth/register', '/api/auth/setup']) {
      const refused = await call('POST', path, { body: credentials, headers: remote })
      assert.is(refused.status, 403)
      assert.match(refused.body.details.join(' '), /aichat --server \S+ setup.*X-Setup-Token/)
      const guessed = await call('POST', path, { body: credentials, headers: { ...remote, 'x-setup-token': 'x' } })
      assert.is(guessed.status, 403)
    }
    const headers = { ...remote, 'x-setup-token': 'setup-token-of-the-test' }
    assert.is((await call('POST', '/api/auth/register', { body: credentials, headers })).status, 201)
    const second = { username: 'bob', password: goodPassword }
    assert.is((await call('POST', '/api/auth/register', { body: second, headers: remote })).status, 201)
  }))

test('registration can be switched off but for the first', async () => {
  await using daemon = await openDaemon({ ALLOW_REGISTRATION: 'false' })
  const { call, register } = daemon
  assert.is((await call('GET', '/api/auth/system-info')).body.registration_enabled, true)
  await register('admin')
  assert.is((await call('POST', '/api/auth/register', { body: credentials })).status, 403)
  assert.is((await call('GET', '/api/auth/system-info')).body.registration_enabled, false)
})

test('login answers name and password, and the same for a wrong one of either', () =>
  withDaemon(async ({ call, register }) => {
    const { user } = await register('ada')
    const right = await call('POST', '/api/auth/login', { body: credentials })
    assert.is(right.status, 200)
    assert.equal(right.body.user, user)
    assert.is(right.headers.get('ratelimit'), '"login";r=5;t=900')
    const [wrong, unknown] = [
      await call('POST', '/api/auth/login', { body: { ...credentials, password: 'Wr0ngpassword' } }),
      await call('POST', '/api/auth/login', { body: { ...credentials, username: 'nobody' } }),
    ]
    for (const { status, body, headers } of [wrong, unknown]) {
      assert.is(status, 401)
      assert.equal(
        { ...body, request_id: '' },
        { error: 'Invalid username or password', details: [], code: 'unauthenticated', request_id: '' },
      )
      assert.is(headers.get('ratelimit-policy'), '"login";q=5;w=900')
    }
    assert.is(wrong.headers.get('ratelimit'), '"login";r=4;t=900')
    assert.match(unknown.headers.get('ratelimit')!, /^"login";r=3;t=(?:900|899)$/)
    assert.equal([...wrong.headers.keys()], [...unknown.headers.keys()])
  }))

test('after five failures the address is refused, right password or not, until the window has passed', () =>
  withDaemon(async ({ call, register }) => {
    await register('ada')
    for (let count = 0; count < 5; count++)
      assert.is(
        (await call('POST', '/api/auth/login', { body: { ...credentials, password: `x${count}` } })).status,
        401,
      )
    // Neither a header that names another address nor a malformed body is a way around.
    for (const options of [
      { body: credentials },
      { body: credentials, headers: { 'x-forwarded-for': '203.0.113.77' } },
      { body: credentials, headers: { forwarded: 'for=203.0.113.77', 'x-real-ip': '203.0.113.77' } },
      { body: {} },
    ]) {
      const { status, headers, body } = await call('POST', '/api/auth/login', options)
      assert.is(status, 429)
      const seconds = Number(headers.get('retry-after'))
      assert.ok(seconds > 880 && seconds <= 900)
      assert.is(body.error, 'Too many failed login attempts')
      assert.equal(body.details, [
        'Try again in 15 minutes',
        'A new password ends the wait: aichat users reset-password USER',
      ])
    }
  }))

test('the setting allows more failures, and a new password lets in the addresses where its user failed', async () => {
  await using daemon = await openDaemon({ AICHAT_LIMIT_LOGIN_ATTEMPTS: '7' })
  const { call, register } = daemon
  const { token } = await register('ada')
  const login = (password: string) => call('POST', '/api/auth/login', { body: { ...credentials, password } })
  const failSeven = async () => {
    for (let count = 0; count < 7; count++) assert.is((await login('Wr0ngpassword')).status, 401)
    assert.is((await login(credentials.password)).status, 429)
  }
  await failSeven()
  const reset = { username: 'ada', new_password: 'An0therpassword' }
  assert.is((await call('POST', '/api/auth/reset-password', { token, body: reset })).status, 200)
  const { status, headers } = await login(reset.new_password)
  assert.equal([status, headers.get('ratelimit-policy')], [200, '"login";q=7;w=900'])
})

test('a request that could be no login does not count', () =>
  withDaemon(async ({ call, register }) => {
    await register('ada')
    for (const body of [
      {},
      { username: 'ada' },
      { ...credentials, password: '' },
      { username: 7, password: 7 },
      '[',
      '[]',
    ])
      assert.is((await call('POST', '/api/auth/login', { body })).status, 400, JSON.stringify(body))
    assert.is(
      (await call('POST', '/api/auth/login', { body: credentials })).headers.get('ratelimit'),
      '"login";r=5;t=900',
    )
  }))

test('an address behind a proxy that is trusted is counted by itself', async () => {
  await using daemon = await openDaemon({ TRUST_PROXY: '127.0.0.1' })
  const { call, register } = daemon
  await register('ada')
  const from = (address: string, password: string) =>
    call('POST', '/api/auth/login', {
      body: { ...credentials, password },
      headers: { 'x-forwarded-for': `203.0.113.1, ${address}` },
    })
  for (let count = 0; count < 5; count++) await from(`2001:db8::${count + 1}`, 'x')
  assert.is((await from('2001:db8:0:0:ffff::1', goodPassword)).status, 429, 'the same /64')
  assert.is((await from('2001:db8:0:1::1', goodPassword)).status, 200)
  const encrypted = await call('GET', '/api/auth/me', { headers: { 'x-forwarded-proto': 'https' } })
  assert.match(encrypted.headers.get('strict-transport-security')!, /^max-age=\d+$/)
})

test('a new password ends every login, and answers with a new one', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('ada')
    const other = (await call('POST', '/api/auth/login', { body: credentials })).body.token as string
    const wrong = await call('POST', '/api/auth/change-password', {
      token,
      body: { current_password: 'Wr0ngpassword', new_password: 'N3wpassword' },
    })
    // Not 401, which would tell a client that it is logged out.
    assert.equal([wrong.status, wrong.body.error], [400, 'Current password is incorrect'])
    const { status, body } = await call('POST', '/api/auth/change-password', {
      token,
      body: { currentPassword: goodPassword, newPassword: 'N3wpassword' },
    })
    assert.is(status, 200)
    for (const ended of [token, other]) assert.is((await call('GET', '/api/auth/me', { token: ended })).status, 401)
    assert.is((await call('GET', '/api/auth/me', { token: body.token })).status, 200)
    assert.is((await call('POST', '/api/auth/login', { body: credentials })).status, 401)
  }))

test('an administrator resets a password by id or name; without one a temporary is made', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('admin')
    const { user, token: ended } = await register('ada')
    const set = await call('POST', '/api/auth/reset-password', {
      token,
      body: { user_id: user.id, new_password: 'N3wpassword' },
    })
    assert.is(set.status, 200)
    assert.not.ok('temporary_password' in set.body)
    assert.is((await call('GET', '/api/auth/me', { token: ended })).status, 401)
    const made = await call('POST', '/api/auth/reset-password', { token, body: { username: 'ADA' } })
    const login = await call('POST', '/api/auth/login', {
      body: { username: 'ada', password: made.body.temporary_password },
    })
    assert.is(login.status, 200)
    const me = await call('GET', '/api/auth/me', { token: login.body.token })
    assert.is(me.body.must_change_password, true)
    for (const [body, expected] of [
      [{ username: 'nobody' }, 404],
      [{ user_id: 'nobody', new_password: 'x' }, 404],
      [{}, 400],
      [{ user_id: user.id, username: 'ada' }, 400],
      [{ user_id: user.id, new_password: 'weak' }, 400],
    ] as const)
      assert.is(
        (await call('POST', '/api/auth/reset-password', { token, body })).status,
        expected,
        JSON.stringify(body),
      )
  }))

test('system-info tells how the service is used, and nothing of who uses it', () =>
  withDaemon(async ({ call }) => {
    assert.equal((await call('GET', '/api/auth/system-info')).body, {
      mode: 'multi-user',
      single_user_mode: false,
      registration_enabled: true,
      needs_setup: true,
      password_policy: { min_length: 6, max_bytes: 72, upper: true, lower: true, digit: true },
    })
  }))

test('users are created, shown, changed and removed', () =>
  withDaemon(async ({ call, register }) => {
    const { token, user: admin } = await register('admin')
    const made = await call('POST', '/api/users', { token, body: { ...credentials, email: 'ada@example.org' } })
    assert.is(made.status, 201)
    assert.is(made.headers.get('location'), `/api/users/${made.body.id}`)
    assert.is(made.body.role, 'user')
    const path = `/api/users/${made.body.id}`
    assert.equal((await call('GET', path, { token })).body, made.body)
    const changed = await call('PUT', path, { token, body: { username: 'Ada L.', email: '', role: 'admin' } })
    assert.is(changed.status, 400, 'a name does not end in a dot')
    const renamed = await call('PUT', path, { token, body: { username: 'Ada L', email: '', role: 'admin' } })
    assert.is(renamed.status, 200)
    assert.equal([renamed.body.username, renamed.body.email, renamed.body.role], ['Ada L', null, 'admin'])
    const list = await call('GET', '/api/users?limit=1&offset=1', { token })
    assert.equal(list.body, { users: [renamed.body], total: 2, limit: 1, offset: 1 })
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'offset=-1'])
      assert.is((await call('GET', `/api/users?${query}`, { token })).status, 400, query)
    assert.equal(
      { ...(await call('GET', '/api/users/stats', { token })).body },
      { total_users: 2, admins: 2, users: 0, active_sessions: 1, created_last_7_days: 2, created_last_30_days: 2 },
    )
    assert.equal((await call('DELETE', path, { token })).body, { message: 'User deleted', id: made.body.id })
    assert.is((await call('DELETE', path, { token })).status, 404)
    assert.is((await call('DELETE', `/api/users/${admin.id}`, { token })).status, 400)
  }))

test('users change their own name and address, but neither role nor password, nor what is not theirs to say', () =>
  withDaemon(async ({ call, register }) => {
    await register('admin')
    const { token, user } = await register('ada')
    const path = `/api/users/${user.id}`
    const put = (body: unknown) => call('PUT', path, { token, body })
    assert.is((await put({ role: 'admin' })).status, 403)
    assert.is((await put({ role: 'user', email: 'ada@example.org' })).status, 200)
    assert.is((await put({ password: 'N3wpassword' })).status, 400)
    assert.is((await put({ role: 'root' })).status, 400)
    const dropped = await put({
      id: 'x',
      created_at: 1,
      password_hash: 'x',
      token_version: 9,
      must_change_password: true,
    })
    assert.is(dropped.status, 200)
    assert.is(dropped.body.id, user.id)
    assert.is(dropped.body.created_at, user.created_at)
    assert.is((await put('{"__proto__":{"role":"admin"}}')).status, 400)
    assert.is((await call('GET', '/api/auth/me', { token })).body.role, 'user')
    assert.is((await call('POST', '/api/auth/login', { body: credentials })).status, 200)
  }))

test('what is too large, nested, compressed, of another type, or no JSON is refused as such', () =>
  withDaemon(async ({ call, register }) => {
    await register('ada')
    const login = async (body: string, headers: Record<string, string> = {}) =>
      (await call('POST', '/api/auth/login', { body, headers })).status
    const text = JSON.stringify(credentials)
    assert.is(await login(JSON.stringify({ ...credentials, more: 'x'.repeat(17_000) })), 413)
    assert.is(await login(`${'['.repeat(100)}${']'.repeat(100)}`), 400)
    assert.is(await login(text, { 'content-type': 'application/x-www-form-urlencoded' }), 415)
    assert.is(await login(text, { 'content-type': 'text/plain' }), 415)
    assert.is(await login(text, { 'content-encoding': 'gzip' }), 415)
    for (const body of ['null', '7', '"x"', '[]', '{', '{"username":{"$ne":null},"password":{"$ne":null}}'])
      assert.is(await login(body), 400, body)
    assert.is(await login(text, { 'content-type': 'application/vnd.api+json; charset=utf-8' }), 200)
  }))

test.run()
