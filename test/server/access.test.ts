// Some with --all only: a whole sample.
import { request } from 'node:http'
import { SignJWT } from 'jose'
import * as assert from 'uvu/assert'
import { createTokens } from '../../src/accounts/tokens.ts'
import { operations } from '../../src/operations/table.ts'
import { dialectRoutes } from '../../src/server/dialect-routes.ts'
import { mcpRoutes } from '../../src/server/mcp-routes.ts'
import { openDaemon, type TestDaemon } from '../helpers/program/daemon.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

type Access = 'public' | 'user' | 'admin' | 'self'

/** The access rules of the contract: the first pattern that fits `METHOD PATH` decides; a route without one fails the test. */
const contract: readonly (readonly [RegExp, Access])[] = [
  [/^POST \/api\/auth\/(?:login|register|setup)$/, 'public'],
  [/^GET \/api\/auth\/system-info$/, 'public'],
  [/^POST \/api\/auth\/reset-password$/, 'admin'],
  [/^(?:GET|POST) \/api\/auth\/(?:me|logout|change-password)$/, 'user'],
  [/^(?:GET|PUT) \/api\/users\/:id$/, 'self'],
  [/^\w+ \/api\/users(?:\/|$)/, 'admin'],
  [/^GET \/api\/(?:requests|load)(?:\/|$)/, 'user'],
  [/^\w+ \/api\/service(?:\/|$)/, 'admin'],
  [/^GET \/api\/plugins(?:\/|$)/, 'user'],
  [/^\w+ \/api\/plugins(?:\/|$)/, 'admin'],
  [/^GET \/api\/(?:models|embeddings\/models)(?:\/|$)/, 'user'],
  [/^POST \/api\/documents\/text$/, 'user'],
  [/^\w+ \/api\/models(?:\/|$)/, 'admin'],
  [/^GET \/api\/limits$/, 'user'],
  [/^\w+ \/api\/limits\//, 'admin'],
  [/^\w+ \/api\/backups(?:\/|$)/, 'admin'],
  [/^\w+ \/api\/(?:audit|settings|mcp)(?:\/|$)/, 'admin'],
  [/^GET \/api\/prices$/, 'user'],
  [/^\w+ \/api\/prices(?:\/|$)/, 'admin'],
  [/^\w+ \/api\/(?:keys|chat|sessions|personas|responses|speech|status)(?:\/|$)/, 'user'],
  [/^GET \/api\/usage(?:\/(?:export|attempts|last-hour))?$/, 'user'],
  [/^\w+ \/api\/usage\//, 'admin'],
  [/^\w+ \/v1\//, 'user'],
  [/^POST \/mcp(?:\/|$)/, 'user'],
  [/^GET \/ollama(?:\/|\/api\/version)?$/, 'public'],
  [/^\w+ \/ollama\/api\//, 'user'],
]

/** Blocked in single-user mode for every caller. */
const blocked = /^(?:POST \/api\/auth\/register|GET \/api\/users|POST \/api\/users|DELETE \/api\/users\/:id)$/

const test = suite('who may ask what')
let shared: Awaited<ReturnType<typeof people>>
test.before(async () => {
  shared = await people()
})
test.after(() => shared.daemon.close())

const secret = 'k7Jq2vX9mZ4tB8nR5wY1cF6hL3pD0sAa'
const routes = [
  ...operations,
  ...[dialectRoutes, mcpRoutes].flatMap((list) =>
    list({} as never, () => {
      throw new Error('only listed')
    }),
  ),
].map(({ method, path }) => ({ method, path, access: accessOf(`${method} ${path}`) }))

test('every route stands in the contract, and the operations say the same', () => {
  assert.ok(routes.length > 40)
  for (const { method, path, access } of operations)
    assert.is(access, accessOf(`${method} ${path}`), `${method} ${path}`)
  for (const { method, path, blockedInSingleUserMode = false } of operations)
    assert.is(blockedInSingleUserMode, blocked.test(`${method} ${path}`), `${method} ${path}`)
})

const refusals = [
  ['none', 'A token is missing'],
  ['expired', 'The token has expired'],
  ['forged', 'The token is not valid'],
  ['noise', 'The token is not valid'],
] as const

test('each route × no token, expired, forged, user, other user, admin', async () => {
  const { daemon, tokens, ids } = shared
  for (const [place, route] of routes.entries()) {
    const { method, path, access } = route
    const ask = (token: string | undefined, id = 'nope') => probe(daemon, route, token, id)
    const what = `${method} ${path}`
    // Without a token, and by turns with each that is not valid.
    const taken = [refusals[0], ...(place % 2 === 0 ? [refusals[1 + ((place / 2) % 3)]!] : [])]
    for (const [kind, message] of isWholeRun ? refusals : taken) {
      const answer = await ask(tokens[kind])
      if (access === 'public') {
        assert.ok(answer.status < 500 && answer.status !== 401, `${what}, ${kind}: ${answer.status}`)
        continue
      }
      assert.is(answer.status, 401, `${what}, ${kind}`)
      assert.match(messageOf(answer.body), message)
      assert.is(
        answer.headers.get('www-authenticate'),
        kind === 'none' ? 'Bearer realm="api"' : 'Bearer realm="api", error="invalid_token"',
      )
      if (path.startsWith('/ollama/')) assert.equal(Object.keys(answer.body), ['error'])
      if (path.startsWith('/api/')) {
        assert.equal(Object.keys(answer.body).sort(), ['code', 'details', 'error', 'request_id'])
        assert.equal(answer.body.details, ['Log in with POST /api/auth/login, or run: aichat login'])
      }
    }
    const own = await ask(tokens.user, ids.user)
    const ofOthers = () =>
      Promise.all([ids.other, '00000000-0000-4000-8000-000000000000'].map((id) => ask(tokens.user, id)))
    if (access === 'admin') {
      for (const answer of path.startsWith('/api/users/:id') ? [own, ...(await ofOthers())] : [own]) {
        assert.is(answer.status, 403, `${what}, user`)
        assert.is(answer.body.error, 'Only an administrator may do this')
        assert.is(answer.headers.get('www-authenticate'), 'Bearer realm="api", error="insufficient_scope"')
      }
    } else if (access === 'self') {
      allowed(own.status, `${what}, own`)
      for (const answer of await ofOthers()) {
        assert.is(answer.status, 403, `${what}, another's, existing or not`)
        assert.is(answer.body.error, 'Only an administrator and the user concerned may do this')
        assert.equal(answer.body.details, [])
      }
    } else allowed(own.status, `${what}, user`)
    if (isWholeRun || access !== 'user') allowed((await ask(tokens.admin, ids.user)).status, `${what}, admin`)
  }
})

test.whole('each route in single-user mode × no token, another user, the administrator', async () => {
  const { daemon, tokens, ids } = await people({ SINGLE_USER_MODE: 'true' })
  for (const route of routes) {
    const what = `${route.method} ${route.path}`
    const [nobody, other, admin] = [
      await probe(daemon, route, undefined, ids.user),
      await probe(daemon, route, tokens.user, ids.user),
      await probe(daemon, route, tokens.admin, ids.user),
    ]
    if (route.access === 'public') {
      for (const { status } of [nobody, other, admin]) assert.is(status === 403, blocked.test(what), what)
      continue
    }
    assert.is(nobody.status, 401, `${what}, no token`)
    assert.is(other.status, 403, `${what}, another user`)
    assert.match(messageOf(other.body), /single-user mode/)
    if (blocked.test(what)) assert.is(admin.status, 403, `${what}, admin`)
    else allowed(admin.status, `${what}, admin`)
  }
  await daemon.close()
})

test('while there is no user, a 401 says how to create the administrator', async () => {
  const daemon = await openDaemon()
  for (const path of ['/api/plugins', '/v1/models', '/api/auth/me']) {
    const { status, body } = await daemon.call('GET', path)
    assert.is(status, 401)
    assert.match(JSON.stringify(body), /aichat --server http:\/\/127\.0\.0\.1:\d+ setup/)
    assert.match(JSON.stringify(body), /api\/auth\/register/)
  }
  assert.is((await daemon.call('GET', '/')).body.needs_setup, true)
  await daemon.register('ada')
  assert.is((await daemon.call('GET', '/')).body.needs_setup, false)
  await daemon.close()
})

test('a refusal comes before a look at what was sent', async () => {
  const { daemon, tokens, ids } = shared
  const broken = { headers: { 'content-type': 'text/plain' }, body: '{' }
  const path = `/api/users/${ids.other}`
  assert.is((await daemon.call('PUT', path, broken)).status, 401)
  assert.is((await daemon.call('PUT', path, { ...broken, token: tokens.user })).status, 403)
  assert.is((await daemon.call('PUT', '/api/users/none', { ...broken, token: tokens.admin })).status, 404)
  assert.is((await daemon.call('PUT', path, { ...broken, token: tokens.admin })).status, 415)
  assert.is((await daemon.call('PUT', path, { body: '{', token: tokens.admin })).status, 400)
})

test('a token that says more than the server could have issued is 401', async () => {
  const { daemon, tokens } = await people({ JWT_EXPIRES_IN: '1h' })
  const [, payload = ''] = tokens.user!.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const now = Math.floor(Date.now() / 1000)
  const asked = async (change: object) => {
    const token = await new SignJWT({ ...claims, ...change })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(new TextEncoder().encode(secret))
    return (await daemon.call('GET', '/api/auth/me', { token })).status
  }
  assert.is(await asked({}), 200)
  assert.is(await asked({ iat: now + 30, nbf: now + 30 }), 200)
  for (const change of [
    { iat: now + 300 },
    { nbf: now + 300 },
    { nbf: 'soon' },
    { exp: claims.exp + 1 },
    { exp: now + 10 * 365 * 86_400 },
    { exp: Number.MAX_SAFE_INTEGER },
  ])
    assert.is(await asked(change), 401, JSON.stringify(change))
  assert.is(await asked({ exp: now + 600 }), 200, 'shorter than it could be')
  await daemon.close()
})

test('a token is taken from the header alone, and x-api-key on Anthropic’s routes', async () => {
  const { daemon, tokens } = shared
  const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
    (await daemon.call(method, path, { headers, ...(method === 'POST' && { body: {} }) })).status
  assert.is(await status('/api/plugins', { authorization: `Bearer ${tokens.user}` }), 200)
  assert.is(await status('/api/plugins', { authorization: `bearer  ${tokens.user}` }), 200)
  for (const headers of [
    { authorization: tokens.user! },
    { authorization: `Basic ${tokens.user}` },
    { authorization: `Bearer ${tokens.user} x` },
    { authorization: `Bearer ${tokens.user},` },
    { cookie: `token=${tokens.user}` },
    { 'x-api-key': tokens.user! },
  ])
    assert.is(await status('/api/plugins', headers), 401, JSON.stringify(headers).slice(0, 40))
  assert.is(await doubled(daemon.url, tokens.user!, tokens.user!), 401)
  assert.is(await doubled(daemon.url, tokens.user!, 'other'), 401)
  assert.is(await status(`/api/plugins?access_token=${tokens.user}`, {}), 401)
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    assert.is(await status(path, { 'x-api-key': tokens.user! }, 'POST'), 400)
    assert.is(await status(path, { authorization: `Bearer ${tokens.user}` }, 'POST'), 400)
    assert.is(await status(path, { 'x-api-key': 'sk-ant-something' }, 'POST'), 401)
  }
  assert.is(await status('/v1/chat/completions', { 'x-api-key': tokens.user! }, 'POST'), 401)
})

test.run()

/** The status for a request with two tokens, which fetch would join to one header. */
function doubled(url: string, ...given: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/plugins`, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.setHeader(
      'authorization',
      given.map((token) => `Bearer ${token}`),
    )
    asked.on('error', reject).end()
  })
}

function accessOf(route: string): Access {
  const found = contract.find(([pattern]) => pattern.test(route))
  if (!found) throw new Error(`${route} stands in no line of the contract`)
  return found[1]
}

/** Asks a route in a way that does nothing: its body is no object, which is refused after the guards. */
function probe(
  daemon: TestDaemon,
  { method, path }: { method: string; path: string },
  token: string | undefined,
  id: string,
) {
  const filled = path.replace(/:id\b/, path.startsWith('/api/users') ? id : 'nope').replace(/:\w+/g, 'nope')
  return daemon.call(method, filled, { token, ...(method !== 'GET' && { body: '"nothing"' }) })
}

/** Fails for 401, 403 and unexpected statuses: the caller is admitted, and the request is invalid or its target missing. */
function allowed(status: number, what: string): void {
  assert.ok([200, 400, 404, 415, 503].includes(status), `${what}: ${status}`)
}

function messageOf(body: { error?: string | { message?: string } }): string {
  return typeof body.error === 'string' ? body.error : (body.error?.message ?? '')
}

async function people(environment: Record<string, string> = {}) {
  const daemon = await openDaemon({ JWT_SECRET: secret, ...environment })
  const { logins, users } = daemon.accounts
  const password = 'Passw0rd'
  const admin = await logins.register({ username: 'admin', password }, undefined)
  const user = await logins.register({ username: 'ada', password }, undefined).catch(() => undefined)
  const other = await users.create({ username: 'bob', password, role: 'user' })
  // Other users cannot log in to single-user mode: signs a token as if it were older than the mode.
  const signer = createTokens(() => [secret], Date.now)
  const claims = signer.verify(user!.token) as Exclude<ReturnType<typeof signer.verify>, string>
  const foreign = createTokens(() => [secret.toLowerCase()], Date.now)
  const tokens = {
    none: undefined,
    expired: await signer.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }),
    forged: await foreign.sign({ ...claims, role: 'admin' }),
    noise: 'a.b.c',
    user: user!.token,
    admin: admin.token,
  }
  return { daemon, tokens, ids: { user: user!.user.id, other: other.id, admin: admin.user.id } }
}
