import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { type Answered, goodPassword, openDaemon, type TestDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const secret = 'A'.repeat(43)
const otherSecret = 'B'.repeat(43)

const test = suite('the console, served')

test('a browser that opens / goes to the console, a program gets JSON', () =>
  withDaemon(async ({ url }) => {
    const browser = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' })
    assert.equal([browser.status, browser.headers.get('location')], [303, '/console'])
    for (const accept of ['*/*', 'application/json'])
      assert.is(((await (await fetch(url, { headers: { accept } })).json()) as { name: string }).name, 'aichat-toolkit')
  }))

test('the page has a policy without exceptions, and its files are kept for good', () =>
  withDaemon(async ({ url }) => {
    const page = await fetch(`${url}/console`)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.is(page.status, 200)
    assert.match(policy, "default-src 'none'")
    assert.not.match(policy, 'unsafe')
    assert.match(policy, "frame-ancestors 'none'")
    assert.is(page.headers.get('cache-control'), 'no-cache')
    const html = await page.text()
    assert.not.match(html, /<script>|style=|onload=|https?:/)
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
    assert.ok(assets.length >= 3)
    for (const address of assets) {
      const asset = await fetch(url + address)
      assert.is(asset.status, 200, address)
      assert.match(asset.headers.get('cache-control') ?? '', 'immutable')
      const again = await fetch(url + address, { headers: { 'if-none-match': `W/${asset.headers.get('etag')}` } })
      assert.is(again.status, 304)
      assert.is((await again.arrayBuffer()).byteLength, 0)
    }
  }))

test('files are sent compressed as the client accepts it', () =>
  withDaemon(async ({ url }) => {
    const plain = await rawPage(url, 'identity')
    assert.is(plain.encoding, null)
    const brotli = await rawPage(url, 'gzip, br')
    assert.is(brotli.encoding, 'br')
    assert.equal(brotliDecompressSync(brotli.bytes), plain.bytes)
    const gzip = await rawPage(url, 'gzip, br;q=0')
    assert.is(gzip.encoding, 'gzip')
    assert.equal(gunzipSync(gzip.bytes), plain.bytes)
  }))

test('no other file can be had, and nothing can be posted', () =>
  withDaemon(async ({ url, call }) => {
    for (const name of ['index.html', 'nothing.js', '..%2f..%2fpackage.json', '%2e%2e%2fmain.js'])
      assert.is((await fetch(`${url}/console/assets/${name}`)).status, 404, name)
    assert.is((await call('POST', '/console', { body: {} })).status, 405)
  }))

test('the login of the console is a cookie that no script reads, and the token is in no answer', () =>
  withDaemon(async (daemon) => {
    const { call } = daemon
    const answer = await call('POST', '/api/auth/setup', { body: person, headers: fromConsole(daemon) })
    assert.equal([answer.status, answer.body.token, answer.body.user.role], [201, undefined, 'admin'])
    const set = answer.headers.get('set-cookie') ?? ''
    for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.match(set, attribute)
    const me = await call('GET', '/api/auth/me', { headers: { ...fromConsole(daemon), cookie: cookieOf(answer) } })
    assert.is(me.body.username, person.username)
  }))

test('a program still gets its token in the answer, and no cookie', () =>
  withDaemon(async ({ call }) => {
    const answer = await call('POST', '/api/auth/setup', { body: person })
    assert.type(answer.body.token, 'string')
    assert.is(answer.headers.get('set-cookie'), null)
  }))

test('the cookie counts only beside the secret of its page, and from its origin', () =>
  withDaemon(async (daemon) => {
    const { call, url } = daemon
    const cookie = cookieOf(await call('POST', '/api/auth/setup', { body: person, headers: fromConsole(daemon) }))
    const ask = async (headers: Record<string, string>) =>
      (await call('POST', '/api/personas', { body: { name: 'Ada', model: 'm' }, headers: { cookie, ...headers } }))
        .status
    const own = new URL(url).origin
    assert.is(await ask({}), 401, 'a cookie alone, as a foreign form sends it')
    assert.is(await ask({ 'x-aichat-console': otherSecret }), 401, 'another secret')
    assert.is(await ask({ 'x-aichat-console': 'short' }), 401, 'no secret')
    assert.is(
      await ask({ 'x-aichat-console': secret, 'sec-fetch-site': 'same-site' }),
      401,
      'another port of this host',
    )
    assert.is(await ask({ 'x-aichat-console': secret, 'sec-fetch-site': 'none' }), 401, 'no page at all')
    assert.is(await ask({ 'x-aichat-console': secret, origin: 'http://127.0.0.1:1' }), 403, 'another origin')
    assert.is(await ask({ 'x-aichat-console': secret, origin: own, 'sec-fetch-site': 'same-origin' }), 201)
  }))

test('an origin of CORS_ORIGIN cannot use the cookie either', async () => {
  await using daemon = await openDaemon({ CORS_ORIGIN: 'https://app.example' })
  const { call, url } = daemon
  const cookie = cookieOf(await call('POST', '/api/auth/setup', { body: person, headers: fromConsole(daemon) }))
  const origin = 'https://app.example'
  const asked = await call('GET', '/api/auth/me', { headers: { cookie, origin, 'x-aichat-console': secret } })
  assert.is(asked.status, 401)
  const preflight = await fetch(`${url}/api/auth/me`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-aichat-console' },
  })
  assert.not.match((preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase(), 'x-aichat-console')
  assert.is(preflight.headers.get('access-control-allow-credentials'), null)
})

test('the cookie does not hold the token in the clear, and a changed one is none', () =>
  withDaemon(async (daemon) => {
    const { call } = daemon
    const cookie = cookieOf(await call('POST', '/api/auth/setup', { body: person, headers: fromConsole(daemon) }))
    const sealed = cookie.slice(cookie.indexOf('=') + 1)
    assert.not.match(Buffer.from(sealed, 'base64url').toString('latin1'), 'eyJ')
    assert.is((await call('GET', '/api/auth/me', { token: sealed })).status, 401)
    const changed = `${cookie.slice(0, -3)}${cookie.endsWith('AAA') ? 'BBB' : 'AAA'}`
    for (const wrong of [changed, cookie.slice(0, 40), `${cookie.split('=')[0]}=`])
      assert.is((await call('GET', '/api/auth/me', { headers: { ...fromConsole(daemon), cookie: wrong } })).status, 401)
  }))

test('logging out removes the cookie and ends the login; a new password renews it', () =>
  withDaemon(async (daemon) => {
    const { call } = daemon
    const headers = fromConsole(daemon)
    const first = cookieOf(await call('POST', '/api/auth/setup', { body: person, headers }))
    const changed = await call('POST', '/api/auth/change-password', {
      body: { current_password: goodPassword, new_password: 'An0therOne' },
      headers: { ...headers, cookie: first },
    })
    assert.equal([changed.status, changed.body.token], [200, undefined])
    const second = cookieOf(changed)
    assert.is((await call('GET', '/api/auth/me', { headers: { ...headers, cookie: first } })).status, 401)
    const left = await call('POST', '/api/auth/logout', { body: {}, headers: { ...headers, cookie: second } })
    assert.match(left.headers.get('set-cookie') ?? '', 'Max-Age=0')
    assert.is((await call('GET', '/api/auth/me', { headers: { ...headers, cookie: second } })).status, 401)
  }))

test('without the console there is no page, no redirection and no cookie', async () => {
  const home = temporaryFolder()
  writeFileSync(join(home, 'config.json'), JSON.stringify({ 'api.console': 'false' }))
  await using installation = openInstallation({ AICHAT_HOME: home })
  const url = await installation.serve()
  for (const path of ['/console', '/console/', '/console/assets/index.html'])
    assert.is((await fetch(url + path)).status, 404, path)
  const root = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' })
  assert.is(root.status, 200)
  assert.match(root.headers.get('content-type') ?? '', 'json')
})

test.run()

const person = { username: 'ada', password: goodPassword }

function fromConsole({ url }: TestDaemon): Record<string, string> {
  return { 'x-aichat-console': secret, origin: url, 'sec-fetch-site': 'same-origin' }
}

function cookieOf({ headers }: Answered): string {
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** The page as it is on the wire: fetch would decompress it. */
async function rawPage(url: string, encoding: string) {
  return new Promise<{ encoding: string | null; bytes: Buffer }>((resolve, reject) => {
    get(`${url}/console`, { headers: { 'accept-encoding': encoding } }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'] ?? null, bytes: Buffer.concat(pieces) }),
      )
    }).on('error', reject)
  })
}
