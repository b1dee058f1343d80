import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { acceptLateRequests, answerHalfClosed, keepUsedConnections } from '../../src/server/listen.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('requests that are read late')

const timedOut = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

test('one whose bytes were there when its time was over is answered and not refused', () =>
  withServer(async (server, port) => {
    const { ours, theirs } = await connected(server, port)
    const heard = toTheEnd(theirs)
    server.emit('clientError', timedOut, ours)
    theirs.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    assert.match(await heard, /^HTTP\/1\.1 200 /)
  }))

test('a connection that says nothing whole is answered with 408 all the same', () =>
  withServer(async (server, port) => {
    const { ours, theirs } = await connected(server, port)
    const heard = toTheEnd(theirs)
    theirs.write('GET /health HTTP/1.1\r\nHos')
    server.emit('clientError', timedOut, ours)
    assert.match(await heard, /^HTTP\/1\.1 408 /)
  }))

test('an idle connection whose next request came while its time ran out is answered, and one that is silent ends', () =>
  withServer(async (server, port) => {
    const { ours, theirs } = await connected(server, port)
    theirs.write('GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(theirs, 'data')
    const heard = toTheEnd(theirs)
    theirs.write('GET /b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    server.emit('timeout', ours)
    assert.match(await heard, /^HTTP\/1\.1 200 /)
    const silent = await connected(server, port)
    server.emit('timeout', silent.ours)
    assert.is(await toTheEnd(silent.theirs), '')
  }))

test('a client that ends its side behind its request is answered where it reads, and gone where it changes something', async () => {
  const answers: (() => void)[] = []
  const server = createServer((_, response) => {
    response.once('close', () => gone.push(response.writableFinished))
    answers.push(() => response.end('ok'))
  })
  const gone: boolean[] = []
  answerHalfClosed(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    for (const [method, isAnswered] of [
      ['GET', true],
      ['HEAD', true],
      ['POST', false],
      ['DELETE', false],
    ] as const) {
      const { ours, theirs } = await connected(server, (server.address() as { port: number }).port)
      const heard = toTheEnd(theirs)
      const end = once(ours, 'end')
      theirs.end(`${method} / HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await end
      if (!isAnswered) await once(ours, 'close')
      answers.pop()!()
      assert.is((await heard).startsWith('HTTP/1.1 200 '), isAnswered, method)
      assert.is(gone.pop(), isAnswered, method)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('what is no HTTP is 400, and headers without end are 431', () =>
  withServer(async (_, port) => {
    for (const [bytes, status] of [
      ['nonsense\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nA: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
    ] as const) {
      const socket = connect(port, '127.0.0.1')
      socket.write(bytes)
      assert.match(await toTheEnd(socket), new RegExp(`^HTTP/1\\.1 ${status} `))
    }
  }))

test('requests in a row on one connection are begun one after the other, and none for a client that has gone', async () => {
  await using installation = openInstallation()
  const begun: string[] = []
  let answer = () => {}
  const gate = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { mount } = await import('../../src/server/http-server.ts')
  const handler = mount({ app: installation.app, observe: () => {} }, [
    {
      method: 'GET',
      path: '/slow',
      handle: async ({ response, query }) => {
        begun.push(query.get('n') ?? '')
        if (query.get('n') === 'b') await gate
        response.end(query.get('n'))
      },
    },
  ])
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  const ask = (name: string) => `GET /slow?n=${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  socket.write(['a', 'b', 'c', 'd'].map(ask).join(''))
  while (begun.length < 2) await new Promise(setImmediate)
  assert.equal(begun, ['a', 'b'])
  const closed = once(server, 'connection').catch(() => {})
  socket.destroy()
  // The end of the first connection has been seen once another one is served.
  const other = connect((server.address() as { port: number }).port, '127.0.0.1')
  other.write('GET /slow?n=e HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await closed
  await toTheEnd(other)
  answer()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.equal(begun, ['a', 'b', 'e'])
  server.close()
  server.closeAllConnections()
})

test.run()

async function withServer(run: (server: Server, port: number) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => response.end('ok'))
  acceptLateRequests(server)
  keepUsedConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await run(server, (server.address() as { port: number }).port)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function connected(server: Server, port: number): Promise<{ ours: Socket; theirs: Socket }> {
  const connection = once(server, 'connection')
  const theirs = connect(port, '127.0.0.1')
  const [ours] = (await connection) as [Socket]
  return { ours, theirs }
}

function toTheEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    socket.on('data', (piece) => {
      heard += piece
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(heard))
  })
}
