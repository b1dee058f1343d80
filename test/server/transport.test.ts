import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { serveHere } from '../helpers/program/daemon.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the transport')

const json = { 'content-type': 'application/json' }
const chat = (body: string, headers: Record<string, string> = json) => ({
  method: 'POST',
  path: '/api/chat',
  body,
  headers,
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const refusals: readonly { name: string; request: Asked; status: number; error?: RegExp }[] = [
  { name: 'an unknown path', request: { method: 'GET', path: '/api/nope' }, status: 404, error: /^Not found$/ },
  { name: 'a wrong method', request: { method: 'PUT', path: '/api/chat' }, status: 405, error: /Method not allowed/ },
  { name: 'a body that is no JSON', request: chat('{"messages": '), status: 400, error: /not JSON/ },
  { name: 'a body that is a list', request: chat('[]'), status: 400, error: /must be a JSON object/ },
  { name: 'no body', request: { method: 'POST', path: '/api/chat' }, status: 400 },
  { name: 'a body of another type', request: chat('{}', { 'content-type': 'text/plain' }), status: 415 },
  {
    name: 'a form in the place of JSON',
    request: chat('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 415,
  },
  { name: 'a compressed body', request: chat('{}', { ...json, 'content-encoding': 'gzip' }), status: 415 },
  { name: 'an empty conversation', request: chat('{"messages":[]}'), status: 400 },
  {
    name: 'a message of an unknown role',
    request: chat('{"messages":[{"role":"wizard","content":"x"}]}'),
    status: 400,
  },
  {
    name: 'a temperature that is a text',
    request: chat('{"messages":[{"role":"user","content":"x"}],"temperature":"hot"}'),
    status: 400,
  },
  {
    name: 'a model name that climbs',
    request: chat('{"model":"../../etc","messages":[{"role":"user","content":"x"}]}'),
    status: 400,
  },
  {
    name: 'a model name with control characters',
    request: chat('{"model":"a\\u0000b","messages":[{"role":"user","content":"x"}]}'),
    status: 400,
  },
  {
    name: 'an unknown plugin',
    request: chat('{"plugin":"nope","messages":[{"role":"user","content":"x"}]}'),
    status: 404,
  },
  {
    name: 'a hundred thousand nested lists',
    request: chat(`{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    status: 400,
    error: /nested/,
  },
  {
    name: 'a prototype in the body',
    request: chat('{"messages":[{"role":"user","content":"x"}],"__proto__":{"admin":true}}'),
    status: 400,
    error: /forbidden key/,
  },
  {
    name: 'a prototype hidden by escapes',
    request: chat('{"messages":[{"role":"user","content":"x"}],"\\u005f_proto__":{}}'),
    status: 400,
    error: /forbidden key/,
  },
  {
    name: 'a plugin document of 2 MiB',
    request: {
      method: 'POST',
      path: '/api/plugins/install',
      body: JSON.stringify({ id: 'x', pad: 'x'.repeat(2 * 1024 * 1024) }),
      headers: json,
    },
    status: 413,
  },
  { name: 'a broken escape in the address', request: { method: 'GET', path: '/api/plugins/%zz' }, status: 400 },
  { name: 'an id with an encoded slash', request: { method: 'GET', path: '/api/plugins/..%2f..%2fetc' }, status: 404 },
  {
    name: 'a foreign host name',
    request: { method: 'GET', path: '/health', headers: { host: 'evil.example' } },
    status: 403,
    error: /host name/,
  },
  {
    name: 'a foreign host name that begins like an address',
    request: { method: 'GET', path: '/health', headers: { host: '[::1].evil.example' } },
    status: 403,
    error: /host name/,
  },
  {
    name: 'a page of another site that would change something',
    request: {
      method: 'POST',
      path: '/api/plugins/deactivate',
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    },
    status: 403,
  },
]

for (const { name, request, status, error } of refusals) {
  test(`${name} is answered ${status} in the one error shape, and the service lives on`, () =>
    withServer(async (url) => {
      const reply = await raw(url, request)
      assert.is(reply.status, status, reply.text)
      const body = JSON.parse(reply.text) as { error: string; details: string[]; request_id: string }
      assert.type(body.error, 'string')
      assert.ok(Array.isArray(body.details))
      if (error) assert.match(body.error, error)
      assert.not.match(reply.text, /node_modules|\.ts:|at Object/)
      assert.is((await fetch(`${url}/health`)).status, 200)
    }))
}

test('an unknown expectation is answered 417 in the shape of its route, and logged', async () => {
  await using daemon = await serveHere()
  const ask = async (target: string, expected: string) => {
    const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nExpect: ${expected}\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const piece of socket) text += piece
    return text
  }
  const ours = await ask('/api/plugins', '200-ok')
  assert.match(ours, /^HTTP\/1\.1 417 /)
  const { error, details, code, request_id } = JSON.parse(ours.slice(ours.indexOf('{')))
  assert.match(error, /Expect/)
  assert.equal([code, details.length], ['expectation', 1])
  assert.match(ours, new RegExp(`x-request-id: ${request_id}`, 'i'))
  await until(() => daemon.output.stderr.includes(request_id))
  const openai = await ask('/v1/models', 'magic')
  assert.match(openai, /^HTTP\/1\.1 417 /)
  assert.is(JSON.parse(openai.slice(openai.indexOf('{'))).error.type, 'invalid_request_error')
  assert.match(await ask('/health', '100-continue'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('a target in absolute form is served for a name of this server alone, whatever its Host header says', () =>
  withServer(async (url) => {
    const { port } = new URL(url)
    const cases: readonly (readonly [target: string, host: string, status: number])[] = [
      ['http://evil.example/', 'localhost', 403],
      ['http://evil.example/health', 'localhost', 403],
      ['HTTPS://evil.example:3001/api/plugins/openai', 'localhost', 403],
      ['http://localhost@evil.example/health', 'localhost', 403],
      ['http:///health', 'localhost', 403],
      ['http://localhost/health', 'evil.example', 403],
      [`http://localhost:${port}/health`, 'localhost', 200],
      [`http://127.0.0.1:${port}`, 'localhost', 200],
      [`http://127.0.0.1:${port}?q`, 'localhost', 200],
    ]
    for (const [target, host, status] of cases) {
      const socket = connect(Number(port), '127.0.0.1')
      // Half a connection that is closed would count as a client that left.
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      let text = ''
      for await (const piece of socket) text += piece
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), `${target} with ${host}: ${text}`)
    }
  }))

test('a host that is named twice is refused, whichever comes first', () =>
  withServer(async (url) => {
    for (const hosts of ['Host: localhost\r\nHost: evil.example', 'Host: localhost\r\nhost: localhost']) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.end(`GET /health HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`)
      let text = ''
      for await (const piece of socket) text += piece
      assert.match(text, /^HTTP\/1\.1 400 [\s\S]*two Host headers/)
    }
  }))

test('a wrong method says which are allowed', () =>
  withServer(async (url) => {
    assert.is((await fetch(`${url}/api/chat`, { method: 'DELETE' })).headers.get('allow'), 'POST')
  }))

test('every answer carries the safe headers and a request id', () =>
  withServer(async (url) => {
    for (const path of ['/', '/health', '/api/plugins', '/nope']) {
      const { headers } = await fetch(`${url}${path}`)
      assert.is(headers.get('cache-control'), 'no-store')
      assert.is(headers.get('x-content-type-options'), 'nosniff')
      assert.is(headers.get('x-frame-options'), 'DENY')
      assert.match(headers.get('content-security-policy')!, /default-src 'none'/)
      assert.match(headers.get('x-request-id')!, /^[\w-]{36}$/)
    }
    assert.is(
      (await fetch(`${url}/health`, { headers: { 'x-request-id': 'mine-1' } })).headers.get('x-request-id'),
      'mine-1',
    )
  }))

test('only listed origins may read, and a preflight says so', async () => {
  await using installation = openInstallation({ CORS_ORIGIN: 'https://app.example' })
  const url = await installation.serve()
  const preflight = (origin: string) =>
    fetch(`${url}/api/chat`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
  const listed = await preflight('https://app.example')
  assert.is(listed.status, 204)
  assert.is(listed.headers.get('access-control-allow-origin'), 'https://app.example')
  for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.example']) {
    assert.is((await preflight(origin)).headers.get('access-control-allow-origin'), null)
  }
})

test('a chunked body over the limit cannot end the process', () =>
  withServer(async (url) => {
    const { port } = new URL(url)
    for (let round = 0; round < 16; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(
            'POST /api/plugins/install HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
          )
          const piece = 'x'.repeat(65_536)
          for (let index = 0; index < 8; index++) socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve())
        // It leaves with the first bytes of the refusal.
        socket.once('data', () => socket.destroy())
      })
    }
    assert.is((await fetch(`${url}/health`)).status, 200)
  }))

test.run()

async function withServer(run: (url: string) => Promise<void>): Promise<void> {
  await using installation = openInstallation()
  await run(await installation.serve())
}

/** An exchange with exactly these headers: fetch would not send a foreign Host or a fetch-metadata header. */
async function raw(url: string, { method, path, body, headers }: Asked) {
  const { request } = await import('node:http')
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = request(`${url}${path}`, { method, headers: { ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
