import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { type Installation, openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { completion, completionEvents } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

/** Answers that no HTTP library would send, written to the socket byte by byte. */
const test = suite('answers that bend or break HTTP')

type Sent = { readonly type: string; readonly body: string }

type Raw = (socket: Socket, sent: Sent) => unknown

const whole: Sent = { type: 'Content-Type: application/json\r\n', body: JSON.stringify(completion('hello')) }
const streamed: Sent = { type: 'Content-Type: text/event-stream\r\n', body: completionEvents(['he', 'llo']).join('') }

const head = (fields: string, status = '200 OK') => `HTTP/1.1 ${status}\r\n${fields}\r\n`
const sized = ({ type, body }: Sent, more = 0) => `${type}Content-Length: ${Buffer.byteLength(body) + more}\r\n`
const inChunks = ({ type }: Sent) => `${type}Transfer-Encoding: chunked\r\n`
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const plainly = (fields: string, status: string, body = '{}') =>
  head(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${fields}`, status) + body

/** The bytes sent, and the outcome: the text, or the class of the failure; two where a stream differs. */
const answers: Readonly<Record<string, readonly [Raw, string] | readonly [Raw, string, string]>> = {
  'trailers after the last chunk': [
    (socket, sent) => socket.write(`${head(inChunks(sent))}${chunk(sent.body)}0\r\nX-Error: yes\r\n\r\n`),
    'hello',
  ],
  'an announcement before the answer': [
    (socket, sent) => socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${head(sized(sent))}${sent.body}`),
    'hello',
  ],
  'no length, ended by closing': [
    (socket, sent) => socket.end(`${head(`${sent.type}Connection: close\r\n`)}${sent.body}`),
    'hello',
  ],
  'HTTP 1.0': [(socket, sent) => socket.end(`HTTP/1.0 200 OK\r\n${sent.type}\r\n${sent.body}`), 'hello'],
  'accepted instead of OK': [
    (socket, sent) => socket.write(`${head(sized(sent), '202 Accepted')}${sent.body}`),
    'hello',
  ],
  'a byte order mark first': [(socket, sent) => socket.write(`${head(sized(sent, 3))}\uFEFF${sent.body}`), 'hello'],
  'a length that is too long': [(socket, sent) => socket.end(`${head(sized(sent, 50))}${sent.body}`), 'down', 'hello'],
  'a length that is too short': [
    (socket, sent) => socket.write(`${head(sized(sent, -20))}${sent.body}`),
    'protocol',
    'broke off',
  ],
  'a length and chunks': [
    (socket, sent) => socket.end(`${head(`Content-Length: 5\r\n${inChunks(sent)}`)}${chunk(sent.body)}0\r\n\r\n`),
    'protocol',
  ],
  'chunks that are none': [(socket, sent) => socket.end(`${head(inChunks(sent))}zzzz\r\nwhat\r\n`), 'protocol'],
  'a chunk without end': [(socket, sent) => socket.end(`${head(inChunks(sent))}FFFFFFFFFFFFFFFFFF\r\na`), 'protocol'],
  'no HTTP at all': [(socket) => socket.end('SSH-2.0-server\r\n'), 'protocol'],
  'a header that is none': [(socket, sent) => socket.end(head('Bad Header\r\n') + sent.body), 'protocol'],
  'headers that never end': [endlessHeaders, 'protocol'],
  'an upgrade that was not asked for': [
    (socket) => socket.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    'down',
  ],
  'no content': [(socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), 'protocol'],
  'an empty body': [(socket) => socket.write(head('Content-Length: 0\r\n')), 'protocol'],
  'not modified': [(socket) => socket.write('HTTP/1.1 304 Not Modified\r\n\r\n'), 'protocol'],
  'too large, in a page': [
    (socket) => socket.end(plainly('Connection: close\r\n', '413 Too Large', '<html></html>')),
    'request',
  ],
  'a timeout of theirs': [(socket) => socket.write(plainly('', '408 Request Timeout')), 'rate'],
  'too early': [(socket) => socket.write(plainly('', '425 Too Early')), 'rate'],
  'not for legal reasons': [(socket) => socket.write(plainly('', '451 Unavailable For Legal Reasons')), 'request'],
  'an unknown status': [(socket) => socket.write(plainly('', '599 What')), 'down'],
  'an array for an answer': [(socket) => socket.write(plainly('', '200 OK', '[]')), 'protocol'],
  'null for an answer': [(socket) => socket.write(plainly('', '200 OK', 'null')), 'protocol'],
  'a line without end': [
    (socket, sent) =>
      socket.write(`${head(sized({ ...sent, body: `data: ${'x'.repeat(2e6)}` }))}data: ${'x'.repeat(2e6)}`),
    'protocol',
  ],
}

for (const [name, [raw, ofWhole, ofStream = ofWhole]] of Object.entries(answers))
  test(`${name}: ${ofWhole}${ofStream === ofWhole ? '' : `, and streamed: ${ofStream}`}`, async () => {
    assert.is(await outcome(raw, false), ofWhole)
    assert.is(await outcome(raw, true), ofStream)
  })

const waits: readonly (readonly [value: string, tries: number, told: number | undefined])[] = [
  ['Wed, 21 Oct 2015 07:28:00 GMT', 2, 1],
  ['99999999999999999999', 1, 31_536_000],
  ['31536000', 1, 31_536_000],
  ['-5', 2, undefined],
  ['soon', 2, undefined],
]

for (const [value, tries, told] of waits)
  test(`a wait of "${value}" means ${tries === 1 ? 'no' : 'a'} second try`, async () => {
    const raw: Raw = (socket) => socket.write(plainly(`Retry-After: ${value}\r\n`, '429 Too Many Requests'))
    const { error, asked } = await failure(raw)
    assert.is(asked, tries)
    assert.is(error.retryAfter, told)
  })

test('an answer that drips and never ends is over when the time is', async () => {
  const drip: Raw = (socket, sent) => {
    socket.write(head(inChunks(sent)))
    const dripping = setInterval(() => socket.write(chunk(' ')), 20)
    socket.once('close', () => clearInterval(dripping))
  }
  const { error, asked } = await failure(drip, {
    timeouts: { connect: 20_000, first_byte: 20_000, idle: 20_000, total: 1000 },
  })
  assert.equal([error.code, asked], ['timeout', 1])
})

async function endlessHeaders(socket: Socket): Promise<void> {
  socket.write('HTTP/1.1 200 OK\r\n')
  for (let count = 0; count < 100 && !socket.destroyed; count++) {
    socket.write(`X-${count}: ${'a'.repeat(1000)}\r\n`)
    // Lets the reader have each line before the next one.
    await turn()
  }
}

/** The text of the answer, or the class of its failure; `broke off` where it failed after it had begun. */
async function outcome(raw: Raw, stream: boolean): Promise<string> {
  return withServer(raw, {}, async ({ app }) => {
    const { router } = await app.chat()
    const call = { request: { messages: [{ role: 'user' as const, content: 'x' }] }, plugin: 'custom', fallback: false }
    try {
      if (!stream) return String((await router.complete(call)).reply.choices[0]?.message.content)
      let text = ''
      for await (const each of (await router.stream(call)).chunks) text += each.choices[0]?.delta.content ?? ''
      return text
    } catch (error) {
      assert.instance(error, AppError)
      const { message } = error as AppError
      return /broke off and is incomplete/.test(message)
        ? 'broke off'
        : (app.health.counts().find(({ outcome }) => outcome === 'failed')?.failureClass ?? message)
    }
  })
}

async function failure(raw: Raw, more: object = {}): Promise<{ error: AppError; asked: number }> {
  let asked = 0
  const counted: Raw = (socket, sent) => {
    asked++
    return raw(socket, sent)
  }
  return withServer(counted, more, async ({ app }) => {
    const { router } = await app.chat()
    const request = { messages: [{ role: 'user' as const, content: 'x' }] }
    const error = await router.complete({ request, plugin: 'custom', fallback: false }).then(
      () => assert.unreachable('it answered'),
      (reason: unknown) => reason,
    )
    assert.instance(error, AppError)
    return { error: error as AppError, asked }
  })
}

async function withServer<T>(raw: Raw, more: object, use: (installation: Installation) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let request = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1')
      const end = request.indexOf('\r\n\r\n') + 4
      const length = Number(/content-length: (\d+)/i.exec(request)?.[1])
      if (end < 4 || request.length < end + length) return
      const sent = request.includes('"stream":true') ? streamed : whole
      request = ''
      void raw(socket, sent)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const installation = openInstallation({ CUSTOM_API_KEY: 'key' }, { retry: 1 })
  const { port } = server.address() as AddressInfo
  await installation.app.plugins.install(pluginAt(`http://127.0.0.1:${port}`, { retry: { attempts: 2 }, ...more }))
  try {
    return await use(installation)
  } finally {
    await installation.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

test.run()
