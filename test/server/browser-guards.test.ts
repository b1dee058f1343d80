// Some with --all only: many processes.
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { operations } from '../../src/operations/table.ts'
import { dialectRoutes } from '../../src/server/dialect-routes.ts'
import { type CallOptions, goodPassword, openDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { openSpeech } from '../helpers/speech/speech-server.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('pages of other sites')
const json = { 'content-type': 'application/json' }
const newcomer = JSON.stringify({ username: 'evil', password: goodPassword })
const evil = 'https://evil.example'

test('a page of another site does not become the administrator, however it asks', () =>
  withDaemon(async ({ url, call }) => {
    const inQuery = `/api/auth/register?username=evil&password=${goodPassword}`
    for (const [headers, path, body, status] of [
      // The attack itself: a form that a page sends by itself, to an address that its browser takes for no machine.
      [{ origin: evil }, inQuery, undefined, 403],
      [{ origin: 'null' }, inQuery, undefined, 403],
      [{ origin: evil, host: `0.0.0.0:${new URL(url).port}` }, inQuery, undefined, 403],
      [{ origin: evil, ...json }, '/api/auth/register', newcomer, 403],
      [{ origin: evil, 'content-type': 'text/plain' }, '/api/auth/register', newcomer, 403],
      [{ origin: `${url}.evil.example`, ...json }, '/api/auth/register', newcomer, 403],
      [{ origin: 'http://127.0.0.1:1', ...json }, '/api/auth/register', newcomer, 403],
      [{ 'sec-fetch-site': 'cross-site', ...json }, '/api/auth/register', newcomer, 403],
      // Without any of the headers that give a page away.
      [{}, inQuery, undefined, 400],
      [json, inQuery, newcomer, 400],
      [{}, '/api/auth/register', newcomer, 415],
      [{ 'content-type': 'text/plain' }, '/api/auth/register', newcomer, 415],
      [{ 'content-type': 'text/plain;application/json' }, '/api/auth/register', newcomer, 415],
      [
        { 'content-type': 'application/x-www-form-urlencoded' },
        '/api/auth/register',
        `username=evil&password=${goodPassword}`,
        415,
      ],
      [{ 'content-type': 'multipart/form-data; boundary=b' }, '/api/auth/register', newcomer, 415],
    ] as const) {
      const answer = await ask(url, 'POST', path, headers, body)
      assert.is(answer.status, status, `${JSON.stringify(headers)} ${path}: ${answer.text}`)
      assert.is(answer.headers['access-control-allow-origin'], undefined)
    }
    assert.is((await call('GET', '/')).body.needs_setup, true)
    // The first user's own browser and their shell get in.
    assert.is((await ask(url, 'POST', '/api/auth/register', { ...json, origin: url }, newcomer)).status, 201)
  }))

test('no operation and no dialect route is changed by a page of another site, whatever its token', async () => {
  const daemon = await openDaemon()
  const { token } = await daemon.register('ada')
  const routes = [...operations, ...dialectRoutes({} as never, () => ({}))].filter(({ method }) => method !== 'GET')
  assert.ok(routes.length > 30)
  for (const { method, path } of routes)
    for (const origin of [evil, 'null', 'http://localhost:1', 'file://', 'chrome-extension://abc'])
      assert.is(
        (
          await ask(
            daemon.url,
            method,
            path.replace(/:\w+/g, 'x'),
            { ...json, origin, authorization: `Bearer ${token}` },
            '{}',
          )
        ).status,
        403,
        `${method} ${path} from ${origin}`,
      )
  await daemon.close()
})

test('our own pages, listed ones and programs may change something', async () => {
  const environment = { CORS_ORIGIN: 'https://app.example', PUBLIC_HOSTS: 'chat.example' }
  const daemon = await openDaemon(environment)
  const { port } = new URL(daemon.url)
  for (const [headers, status] of [
    [{}, 401],
    [{ origin: daemon.url }, 401],
    [{ origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }, 401],
    [{ origin: `http://localhost:${port}`, host: `localhost:${port}` }, 401],
    [{ origin: `http://LOCALHOST:${port}`, host: `localhost:${port}` }, 401],
    // Behind a proxy that encrypts and that names us to us as it likes.
    [{ origin: 'https://chat.example', host: 'chat.example' }, 401],
    [{ origin: 'https://chat.example' }, 401],
    // Another server of the same name is another site.
    [{ origin: 'https://chat.example:8443', host: 'chat.example' }, 403],
    [{ origin: `http://localhost:${port}` }, 403],
    [{ origin: 'https://app.example.evil.example' }, 403],
  ] as const)
    assert.is((await ask(daemon.url, 'POST', '/api/auth/logout', headers)).status, status, JSON.stringify(headers))
  await daemon.close()
})

test('a listed page may send what the libraries of OpenAI and Anthropic add in a browser, and no other page may', async () => {
  await using daemon = await openDaemon({ CORS_ORIGIN: 'https://app.example' })
  const { url } = daemon
  const asked = new Set<string>()
  // Sends as a browser does: each header that is not safelisted has to be allowed by a preflight (Fetch standard, section 4.8).
  const fromPage =
    (origin: string) =>
    async (input: string | URL | Request, init: RequestInit = {}) => {
      const names = [...new Headers(init.headers).keys()].filter((name) => !safelisted.has(name))
      const preflight = await fetch(input, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': init.method ?? 'GET',
          'access-control-request-headers': names.sort().join(','),
        },
      })
      const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, */)
      const refused = names.filter((name) => !allowed.includes(name))
      if (refused.length > 0) throw new TypeError(`Failed to fetch: ${refused} not allowed`)
      for (const name of names) asked.add(name)
      return fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), origin } })
    }
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const ask = async (origin: string) => {
    const parts = { apiKey: 'aic_none', fetch: fromPage(origin), dangerouslyAllowBrowser: true, maxRetries: 0 }
    const openai = new OpenAI({ ...parts, baseURL: `${url}/v1` }).chat.completions.create({ model: 'm', messages })
    const anthropic = new Anthropic({ ...parts, baseURL: url }).messages.create({ model: 'm', max_tokens: 9, messages })
    return (await Promise.allSettled([openai, anthropic])).map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.status : 200,
    )
  }
  // The key is wrong; what counts is that the server says so, and not the browser.
  assert.equal(await ask('https://app.example'), [401, 401])
  assert.ok(asked.has('x-stainless-os') && asked.has('anthropic-dangerous-direct-browser-access'))
  assert.equal(await ask(evil), [undefined, undefined])
})

test('HTTP/1.0 without a host is answered, as balancers ask whether the server is ready', () =>
  withDaemon(async ({ url }) => {
    const { hostname, port } = new URL(url)
    const asked = async (lines: string) => {
      const socket = connect(Number(port), hostname)
      socket.write(`${lines}\r\n\r\n`)
      return (await text(socket)).split('\r\n', 1)[0]
    }
    assert.is(await asked('GET /ready HTTP/1.0'), 'HTTP/1.1 200 OK')
    assert.is(await asked('OPTIONS / HTTP/1.0'), 'HTTP/1.1 204 No Content')
    assert.is(await asked('GET /ready HTTP/1.0\r\nHost: evil.example'), 'HTTP/1.1 403 Forbidden')
    assert.is(await asked('GET /ready HTTP/1.0\r\nHost:'), 'HTTP/1.1 403 Forbidden')
    assert.is(await asked('GET /ready HTTP/1.1\r\nConnection: close'), 'HTTP/1.1 400 Bad Request')
  }))

test('a host is an address of this machine or a name of ours, and 0.0.0.0 and [::] are neither', async () => {
  const daemon = await openDaemon({ PUBLIC_HOSTS: 'chat.example', HOST: '0.0.0.0' })
  const ours =
    '127.0.0.1 127.0.0.1:3001 192.168.1.7:3001 [::1]:3001 [2001:db8::7] localhost:3001 LocalHost localhost. chat.example CHAT.example:443'
  const others =
    '0.0.0.0:3001 0.0.0.0 0:3001 0x0 000.0.0.0 [::]:3001 [::0] [0:0:0:0:0:0:0:0] [::0.0.0.0] ' +
    '[::ffff:0.0.0.0] evil.example chat.example.evil.example 127.0.0.1.nip.io localhost@evil.example evil.example/localhost evil.example#localhost'
  const hosts = [
    ...ours.split(' ').map((host) => [host, 200]),
    ...['', ...others.split(' ')].map((host) => [host, 403]),
  ]
  for (const [host, status] of hosts as [string, number][])
    assert.is((await ask(daemon.url, 'GET', '/health', { host })).status, status, host)
  await daemon.close()
})

test.whole('a speech server answers a shell, and no page of another site', async () => {
  const speech = await openSpeech('voxa-tts')
  const body = JSON.stringify({ input: 'Hi.' })
  for (const [headers, status] of [
    [json, 200],
    [{ ...json, origin: speech.url }, 200],
    [{ ...json, origin: evil }, 403],
    [{ 'content-type': 'text/plain', origin: evil }, 403],
    [{ ...json, origin: 'null' }, 403],
    [{ ...json, host: `0.0.0.0:${new URL(speech.url).port}` }, 403],
    [{ 'content-type': 'text/plain' }, 415],
    [{}, 415],
  ] as const)
    assert.is(
      (await ask(speech.url, 'POST', '/v1/audio/speech', headers, body)).status,
      status,
      JSON.stringify(headers),
    )
  await speech.close()
})

test('a body is read in UTF-8 and in the types that its operation declares', async () => {
  const daemon = await openDaemon()
  const { token } = await daemon.register('ada')
  const { body: persona } = await daemon.call('POST', '/api/personas', { token, body: { name: 'P', model: 'm' } })
  const login = JSON.stringify({ username: 'ada', password: goodPassword })
  for (const [type, status] of [
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="UTF-8"', 200],
    ['application/json; charset=us-ascii', 200],
    ['APPLICATION/JSON', 200],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=UTF-16LE', 415],
    ['application/json; charset=latin1', 415],
    ["application/json; charset='iso-8859-1'", 415],
    ['application/json, text/plain', 415],
    ['application/jsonp', 415],
  ] as const) {
    const options: CallOptions = { body: login, headers: { 'content-type': type } }
    assert.is((await daemon.call('POST', '/api/auth/login', options)).status, status, type)
  }
  const bytes = Buffer.from('{"username":"ada","password":"\xff\xfe"}', 'latin1')
  assert.is((await ask(daemon.url, 'POST', '/api/auth/login', json, bytes)).status, 400)
  for (const [type, status] of [
    ['application/json', 400],
    ['application/octet-stream', 400],
    ['application/zip', 400],
    ['image/png', 400],
    ['application/x-www-form-urlencoded', 415],
    ['text/plain', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
  ] as const) {
    const headers = { ...(type !== '' && { 'content-type': type }), authorization: `Bearer ${token}` }
    for (const path of ['/api/personas/import', `/api/personas/${persona.id}/restore`]) {
      const answer = await ask(daemon.url, 'POST', path, headers, Buffer.from('no package'))
      assert.is(answer.status, status, `${path} ${type}: ${answer.text}`)
    }
  }
  // Where no body is needed, none and no type are fine.
  const headers = { authorization: `Bearer ${token}` }
  assert.is((await ask(daemon.url, 'POST', `/api/personas/${persona.id}/backup`, headers)).status, 201)
  assert.is((await ask(daemon.url, 'POST', `/api/personas/${persona.id}/verify`, headers)).status, 200)
  assert.is((await ask(daemon.url, 'POST', '/api/auth/logout', headers)).status, 200)
  await daemon.close()
})

test('the query of a request holds what its operation declares, and nothing else', async () => {
  const daemon = await openDaemon()
  const { token } = await daemon.register('ada')
  const status = async (path: string, body: unknown = {}) =>
    (await daemon.call('POST', path, { token, body })).body.details?.join(' | ') ?? ''
  assert.match(await status('/api/personas?name=P&model=m'), /name: is not a query parameter/)
  assert.match(await status('/api/personas?name=P', { name: 'Q', model: 'm' }), /name: is not a query parameter/)
  assert.match(await status('/api/plugins/install?repalce=true'), /Query parameters: replace/)
  assert.match(await status('/api/personas?__proto__=x&constructor=y'), /__proto__: is not a query parameter/)
  assert.is((await daemon.call('POST', '/api/plugins/deactivate?type=tts', { token })).status, 200)
  const refusals: readonly (readonly [method: 'GET' | 'DELETE', path: string, detail: RegExp])[] = [
    ['GET', '/api/keys?user=anna', /user: is not a query parameter.*Query parameters: /],
    ['GET', '/api/users?offst=1', /offst: is not a query parameter; did you mean offset\?/],
    ['GET', '/api/status?verbose=1', /verbose: is not a query parameter.*Query parameters: none/],
    ['GET', '/api/plugins/openai?id=mock', /id: is not a query parameter/],
    ['DELETE', '/api/plugins/openai?force=1', /force: is not a query parameter/],
  ]
  for (const [method, path, detail] of refusals) {
    const { status: code, body } = await daemon.call(method, path, { token })
    assert.is(code, 400, path)
    assert.match(body.details.join(' | '), detail)
  }
  for (const path of ['/api/users?limit=1', '/v1/models?beta=true&api-version=2024-10-21'])
    assert.is((await daemon.call('GET', path, { token })).status, 200, path)
  await daemon.close()
})

test.run()

/** Headers that a page may send unasked, and those that the browser itself sets. */
const safelisted = new Set(['accept', 'accept-language', 'content-language', 'user-agent', 'content-length'])

interface Heard {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** An exchange with exactly these headers, which fetch would not send. */
function ask(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string | Buffer,
): Promise<Heard> {
  return new Promise((resolve, reject) => {
    // Node states no length for the body of a DELETE.
    const all = { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) }
    const asked = request(`${url}${path}`, { method, headers: all, setHost: !('host' in headers) }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    asked
      .on('error', (reason) => reject(new Error(`${method} ${path} ${JSON.stringify(headers)}`, { cause: reason })))
      .setTimeout(5000, () => asked.destroy(new Error(`${method} ${path} ${JSON.stringify(headers)}: no answer`)))
    asked.end(body)
  })
}
