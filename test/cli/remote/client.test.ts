// Some with --all only: many processes.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { App } from '../../../src/app/compose.ts'
import { openRemote } from '../../../src/cli/remote/client.ts'
import { AppError, type FailureCode } from '../../../src/errors.ts'
import { askInProcess, localOwner } from '../../../src/operations/ask.ts'
import { Download, defineOperation, type Operation } from '../../../src/operations/operation.ts'
import { mount } from '../../../src/server/http-server.ts'
import { serveOperation } from '../../../src/server/routes.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the remote client')

/** An operation of each form; each returns its input. */
const echo = { access: 'user', summary: 'Echoes.', output: z.unknown() } as const
const forms = {
  query: defineOperation({
    ...echo,
    name: 'echo.query',
    route: 'GET /echo/:id/of/:part',
    input: z.object({
      id: z.string(),
      part: z.string(),
      text: z.exactOptional(z.string()),
      count: z.coerce.number().default(1),
      flag: z.union([z.boolean(), z.stringbool()]).default(false),
    }),
    run: (_, input) => input,
  }),
  body: defineOperation({
    ...echo,
    name: 'echo.body',
    route: 'PUT /echo/:id',
    input: z.looseObject({ id: z.string() }),
    run: (_, input) => input,
  }),
  field: defineOperation({
    ...echo,
    name: 'echo.field',
    route: 'POST /echo/field/:id',
    bodyField: 'document',
    query: ['mode'],
    input: z.object({ id: z.string(), document: z.unknown(), mode: z.exactOptional(z.string()) }),
    run: (_, input) => input,
  }),
  removal: defineOperation({
    ...echo,
    name: 'echo.removal',
    route: 'DELETE /echo/:id',
    input: z.object({ id: z.string(), category: z.exactOptional(z.string()) }),
    run: (_, input) => input,
  }),
  form: defineOperation({
    ...echo,
    name: 'echo.form',
    route: 'POST /echo/form',
    upload: { field: 'file', as: 'multipart' },
    query: ['replace'],
    input: z.object({ file: z.string(), replace: z.union([z.boolean(), z.stringbool()]).default(false) }),
    run: (_, input) => input,
  }),
  stream: defineOperation({
    ...echo,
    name: 'echo.stream',
    route: 'POST /echo/stream',
    limit: 64 * 1024 * 1024,
    upload: { field: 'bytes', as: 'stream', types: ['application/octet-stream'] },
    query: ['name'],
    input: z.object({ bytes: z.custom<AsyncIterable<Uint8Array>>(() => true), name: z.string() }),
    run: async (_, { bytes, name }) => {
      let size = 0
      let sum = 0
      for await (const piece of bytes) {
        size += piece.length
        for (const byte of piece) sum = (sum + byte) % 65_521
      }
      return { name, size, sum }
    },
  }),
  refusing: defineOperation({
    ...echo,
    name: 'echo.refusing',
    route: 'POST /echo/refusing',
    upload: { field: 'bytes', as: 'stream', types: ['application/octet-stream'] },
    query: ['name'],
    locate: () => {
      throw new AppError('forbidden', 'It is not yours')
    },
    input: z.object({ bytes: z.custom<AsyncIterable<Uint8Array>>(() => true) }),
    run: () => null,
  }),
  download: defineOperation({
    ...echo,
    name: 'echo.download',
    route: 'POST /echo/download',
    input: z.object({ text: z.string(), type: z.string() }),
    output: z.instanceof(Download),
    run: (_, { text, type }) =>
      new Download(type, pieces(text), { filename: 'a name.txt', headers: { 'x-echo': String(text.length) } }),
  }),
  attachment: defineOperation({
    ...echo,
    name: 'echo.attachment',
    route: 'GET /echo/attachment',
    input: z.object({}),
    attachment: () => 'x.json',
    run: () => ({ is: 'JSON' }),
  }),
  failing: defineOperation({
    ...echo,
    name: 'echo.failing',
    route: 'GET /echo/failing/:code',
    input: z.object({ code: z.string() }),
    run: (_, { code }) => {
      throw new AppError(code as FailureCode, `It is ${code}`, { details: ['one', 'two'], retryAfter: 7 })
    },
  }),
}

const streaming = defineOperation({
  ...echo,
  name: 'echo.events',
  route: 'POST /echo/events',
  input: z.object({ values: z.array(z.unknown()), fail: z.exactOptional(z.string()) }),
  run: () => null,
  stream: {
    wanted: () => true,
    run: async (_, { values, fail }) => ({ chunks: events(values, fail as FailureCode | undefined) }),
  },
})

const awkward = ['a/b', 'ä ö', '..', 'x?y#z', '%2e%2e', '+', '"quoted"', '日本']

test('path, query and body arrive unchanged, with any characters', () =>
  withBoth(async (ask) => {
    for (const text of awkward.filter((text) => text !== '..'))
      await same(ask, forms.query, { id: text, part: 'p', text, count: 7, flag: true })
    await same(ask, forms.query, { id: 'x', part: 'y' })
    for (const value of [...awkward, null, 0, [1, { a: null }], { deep: { er: true } }])
      await same(ask, forms.body, { id: 'x', value, 'odd name': 1 })
    for (const document of [{ id: 'inner', mode: 'inner' }, [1, 2], 'text', 7, null])
      await same(ask, forms.field, { id: 'outer', document, mode: 'outer' })
    await same(ask, forms.removal, { id: 'x', category: 'a&b=c' })
    await same(ask, forms.removal, { id: 'x' })
  }))

test('a name that would be another address is the name of nothing', () =>
  withBoth(async (ask) => {
    for (const id of ['', '.', '..'])
      assert.is((await failure(ask.remote(forms.removal, { id }))).code, 'not_found', id)
  }))

test.whole('files go up, as a form and as a stream of many megabytes', () =>
  withBoth(async (ask) => {
    await same(ask, forms.form, { file: '{"ä":1}\n--boundary', replace: true })
    const made = () => ({ bytes: megabytes(20), name: 'ä/x' })
    assert.equal(await ask.remote(forms.stream, made()), await ask.local(forms.stream, made()))
  }),
)

test.whole('a refusal in the middle of an upload is heard', () =>
  withBoth(async (ask) => {
    assert.is((await failure(ask.remote(forms.refusing, { bytes: megabytes(40) }))).code, 'forbidden')
    assert.is((await failure(ask.remote(forms.stream, { bytes: megabytes(80), name: 'x' }))).code, 'too_large')
  }),
)

test('downloads come back as such, with their type, name and headers, JSON included', () =>
  withBoth(async (ask) => {
    for (const type of ['audio/wav', 'application/json']) {
      const answer = (await ask.remote(forms.download, { text: 'x'.repeat(300_000), type })) as Download
      assert.instance(answer, Download)
      assert.is(answer.type, type)
      assert.equal([answer.filename, answer.headers['x-echo']], ['a_name.txt', '300000'])
      let size = 0
      for await (const piece of answer.body as AsyncIterable<Uint8Array>) size += piece.length
      assert.is(size, 300_000)
    }
    await same(ask, forms.attachment, {})
  }))

test('a failure keeps its code, its exit, its words and its time', () =>
  withBoth(async (ask) => {
    const codes: FailureCode[] = [
      'found',
      'usage',
      'invalid',
      'too_large',
      'no_input',
      'not_found',
      'unavailable',
      'internal',
      'cannot_create',
      'io',
      'rate_limited',
      'busy',
      'timeout',
      'protocol',
      'unauthenticated',
      'forbidden',
      'configuration',
    ]
    for (const code of codes) {
      const [here, there] = [
        await failure(ask.local(forms.failing, { code })),
        await failure(ask.remote(forms.failing, { code })),
      ]
      for (const field of ['code', 'exit', 'status', 'message', 'retryAfter'] as const)
        assert.is(there[field], here[field], `${code}: ${field}`)
      assert.equal(there.details, here.details)
    }
    const [here, there] = [
      await failure(ask.local(forms.query, { id: 'x', part: 'y', count: 'many' } as never)),
      await failure(ask.remote(forms.query, { id: 'x', part: 'y', count: 'many' } as never)),
    ]
    assert.equal([there.code, there.message, there.details], [here.code, here.message, here.details])
  }))

test('a stream gives its values, and a failure in the middle is the same failure', () =>
  withBoth(async (ask) => {
    const values = [{ a: 1 }, 'text', [null], 'ä\nö', '[DONE]']
    assert.equal(await collected(ask.remoteStream({ values })), { values, failed: undefined })
    assert.equal(await collected(ask.localStream({ values })), { values, failed: undefined })
    for (const fail of ['unavailable', 'busy', 'configuration', 'internal'])
      assert.equal(
        await collected(ask.remoteStream({ values, fail })),
        await collected(ask.localStream({ values, fail })),
      )
  }))

for (const [what, answer, code] of [
  [
    'no JSON',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    'protocol',
  ],
  [
    'JSON of another shape',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('7'),
    'protocol',
  ],
  [
    'a page of a proxy',
    (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<html>'),
    'protocol',
  ],
  ['a page of another server', (_, response) => response.writeHead(404).end('nope'), 'not_found'],
  [
    'a code that does not fit its status',
    (_, response) => response.writeHead(403).end('{"error":"x","details":[],"code":"internal"}'),
    'forbidden',
  ],
  ['a redirect', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), 'unavailable'],
  [
    'half an answer',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"id"', () => response.destroy())
    },
    'protocol',
  ],
  ['nothing', (request) => request.socket.destroy(), 'unavailable'],
] as readonly (readonly [string, RequestListener, FailureCode])[]) {
  test(`${what} from a server is ${code}`, () =>
    withServer(answer, async (url) => {
      const shaped = { ...forms.query, output: z.object({ id: z.string() }) } as unknown as typeof forms.query
      const remote = openRemote({ server: url, token: 'secret-token', insecure: false })
      assert.is((await failure(remote.ask(shaped, { id: 'x', part: 'y' }))).code, code)
    }))
}

for (const [what, body] of [
  ['that ends without saying so', 'data: 1\n\n'],
  ['that is cut', 'data: 1\n\ndata: {"a"'],
] as const) {
  test(`a stream ${what} is a failure, never a whole answer`, () =>
    withServer(
      (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body),
      async (url) => {
        const remote = openRemote({ server: url, token: undefined, insecure: false })
        const { values, failed } = await collected(remote.askStream(streaming as Operation, { values: [] }))
        assert.equal(values, [1])
        assert.is(failed, 'protocol')
      },
    ))
}

test('the token goes to its server and nowhere a redirect leads', async () => {
  const seen: (string | undefined)[] = []
  await withServer(
    (request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    },
    (elsewhere) =>
      withServer(
        (_, response) => response.writeHead(307, { location: `${elsewhere}/x` }).end(),
        async (url) => {
          const remote = openRemote({ server: url, token: 'secret-token', insecure: false })
          assert.is((await failure(remote.ask(forms.body, { id: 'x' }))).code, 'unavailable')
        },
      ),
  )
  assert.equal(seen, [])
})

test('plain http beyond this machine needs --insecure', () => {
  for (const server of ['http://192.0.2.1', 'http://example.org:3001', 'http://[2001:db8::1]'])
    assert.throws(
      () => openRemote({ server, token: undefined, insecure: false }),
      (reason: unknown) => reason instanceof AppError && reason.exit === 64,
    )
  for (const server of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', 'https://example.org'])
    openRemote({ server, token: undefined, insecure: false })
  openRemote({ server: 'http://192.0.2.1', token: undefined, insecure: true })
})

test('plain http to a name below localhost is refused where that leads to another machine', async () => {
  const asked = { server: 'http://evil.localhost:9', token: 'secret-token', insecure: false }
  const leading = (...addresses: string[]) =>
    openRemote({ ...asked, resolve: async () => addresses.map((address) => ({ address })) })
      .ask(forms.query, { id: 'a', part: 'b' })
      .catch((reason: unknown) => reason as AppError)
  for (const addresses of [['93.184.216.34'], ['127.0.0.1', '10.0.0.1']]) {
    const failure = (await leading(...addresses)) as AppError
    assert.equal([failure.code, /is not encrypted/.test(failure.message)], ['usage', true], addresses.join())
  }
  assert.is(((await leading('127.0.0.1', '::1')) as AppError).code, 'unavailable', 'nobody listens there')
})

test('an aborted question ends at once', () => {
  const controller = new AbortController()
  return withServer(
    () => controller.abort(),
    async (url) => {
      const remote = openRemote({ server: url, token: undefined, insecure: false })
      const asked = remote.ask(forms.body, { id: 'x' }, controller.signal).catch((reason: Error) => reason.name)
      assert.is(await asked, 'AbortError')
    },
  )
})

test.run()

type AnyOperation = (typeof forms)[keyof typeof forms]

interface Both {
  local(operation: AnyOperation, input: unknown): Promise<unknown>
  remote(operation: AnyOperation, input: unknown): Promise<unknown>
  localStream(input: unknown): Promise<AsyncIterable<unknown>>
  remoteStream(input: unknown): Promise<AsyncIterable<unknown>>
}

/** The operations above in this process and behind a server, side by side. */
async function withBoth(work: (ask: Both) => Promise<void>): Promise<void> {
  await using installation = openInstallation()
  const { app } = installation
  const all = [...Object.values(forms), streaming] as unknown as readonly Operation[]
  const handler = mount(
    { app, observe: () => {} },
    all.map((operation) => ({
      method: operation.method,
      path: operation.path,
      handle: (exchange) => serveOperation(app as App, operation, exchange, () => ({ caller: localOwner })),
    })),
  )
  const here = askInProcess(app, localOwner)
  await withServer(
    (request, response) => void handler(request, response),
    async (url) => {
      const there = openRemote({ server: url, token: undefined, insecure: false })
      await work({
        local: (operation, input) => here.ask(operation as Operation, input as never),
        remote: (operation, input) => there.ask(operation as Operation, input as never),
        localStream: (input) => here.askStream(streaming as unknown as Operation, input as never),
        remoteStream: (input) => there.askStream(streaming as unknown as Operation, input as never),
      })
    },
  )
}

async function same(ask: Both, operation: AnyOperation, input: unknown): Promise<void> {
  assert.equal(await ask.remote(operation, input), await ask.local(operation, input), JSON.stringify(input))
}

async function withServer(answer: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function failure(asked: Promise<unknown>): Promise<AppError> {
  const reason = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.instance(reason, AppError)
  return reason as AppError
}

async function collected(opened: Promise<AsyncIterable<unknown>>) {
  const values: unknown[] = []
  try {
    for await (const value of await opened) values.push(value)
    return { values, failed: undefined }
  } catch (reason) {
    return { values, failed: (reason as AppError).code }
  }
}

async function* events(values: readonly unknown[], fail: FailureCode | undefined): AsyncGenerator<unknown> {
  for (const value of values) yield value
  if (fail) throw new AppError(fail, 'It failed in the middle')
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 65_536) yield Buffer.from(text.slice(at, at + 65_536))
}

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield new Uint8Array(1024 * 1024).fill(index)
}
