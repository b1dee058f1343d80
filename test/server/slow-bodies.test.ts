import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { usualBodyTimeouts } from '../../src/server/body-watch.ts'
import { createSpeechServer } from '../../src/server/speech.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('bodies that come slowly')

/** Short for a test, long beside the time of one exchange on loopback. */
const bodyTimeouts = { idleMs: 300, totalMs: 700 }

test('a body may be silent for 30 s, and an ordinary request has a minute with its headers', () => {
  assert.equal(usualBodyTimeouts, { idleMs: 30_000, totalMs: 50_000 })
})

test('JSON, a dialect’s body, a form and a package that stop coming are answered with 408, and the connection ends', () =>
  withServer(async (port, url) => {
    const stopped = [
      ['/api/chat', 'application/json'],
      ['/v1/chat/completions', 'application/json'],
      ['/api/plugins/upload', 'multipart/form-data; boundary=b'],
      ['/api/personas/import', 'application/json'],
    ].map(async ([path = '', type = '']) => {
      // Loads what reads such a body, which takes a busy machine longer than the timeouts.
      await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body: '{' })
      const heard = await toTheEnd(begin(port, path, type, 1000, '{"a":'))
      assert.match(heard, /^HTTP\/1\.1 408 /, path)
      assert.match(heard, /connection: close/i, path)
      assert.match(heard, /was not received in time/, path)
    })
    await Promise.all(stopped)
  }))

test('an ordinary body that comes byte by byte ends, and a package goes on as long as bytes come', () => {
  // Longer than a busy machine may keep this process from its next byte.
  const patient = { idleMs: 1500, totalMs: 1000 }
  return withServer(async (port) => {
    // Bytes that never stop: one every 20 ms.
    const drip = async (path: string, ends: () => boolean) => {
      const socket = begin(port, path, 'application/json', 1000, '{"a":"')
      const heard = toTheEnd(socket)
      let isOver = false
      void heard.then(() => {
        isOver = true
      })
      let sent = 0
      while (!isOver && !ends()) {
        socket.write('x')
        sent++
        await Promise.race([heard, new Promise((resolve) => setTimeout(resolve, 20))])
      }
      return { socket, heard, sent, isOver }
    }
    const start = performance.now()
    const [chat, upload] = await Promise.all([
      drip('/api/chat', () => false),
      drip('/api/personas/import', () => performance.now() - start > patient.idleMs * 2),
    ])
    assert.match(await chat.heard, /^HTTP\/1\.1 408 /)
    assert.not(upload.isOver)
    upload.socket.write('x'.repeat(1000 - upload.sent - 6))
    // The server would keep this connection for the next request.
    await Promise.race([once(upload.socket, 'data'), upload.heard])
    upload.socket.destroy()
    // Whole, and no package.
    assert.match(await upload.heard, /^HTTP\/1\.1 400 /)
  }, patient)
})

test('a hundred connections that say nothing more end by themselves, and others are served meanwhile', () =>
  withServer(async (port, url) => {
    const slow = Array.from({ length: 100 }, () => toTheEnd(begin(port, '/api/chat', 'application/json', 1000, '{')))
    assert.is((await fetch(`${url}/health`)).status, 200)
    for (const heard of await Promise.all(slow)) assert.match(heard, /^HTTP\/1\.1 408 /)
    assert.is((await fetch(`${url}/health`)).status, 200)
  }))

test('a body that nobody reads holds no connection for ever', () =>
  withServer(async (port) => {
    const unread = ['GET /health', 'POST /nowhere', 'OPTIONS /api/chat', 'DELETE /health'].map(async (request) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`${request} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx`)
      assert.match(await toTheEnd(socket), /^HTTP\/1\.1 [24]0/, request)
    })
    await Promise.all(unread)
  }))

test('a speech server is as patient, and no more', async () => {
  const { createServer } = await import('node:http')
  const { openSpeechService } = await import('../../speech/service.ts')
  const installation = openInstallation()
  const service = openSpeechService({
    server: 'voxa-tts',
    modelsFolder: `${installation.home}/models`,
    hubEndpoint: 'http://127.0.0.1:9',
    onEvent: () => {},
  })
  const http = createServer(createSpeechServer({ app: installation.app, observe: () => {}, bodyTimeouts }, service))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as { port: number }
  const stopped = [
    ['/v1/audio/speech', 'application/json'],
    ['/v1/audio/voice-clone', 'multipart/form-data; boundary=b'],
  ].map(([path = '', type = '']) => toTheEnd(begin(port, path, type, 1000, '{')))
  for (const heard of await Promise.all(stopped)) assert.match(heard, /^HTTP\/1\.1 408 /)
  http.closeAllConnections()
  http.close()
  await service.close()
  await installation.close()
})

test.run()

async function withServer(run: (port: number, url: string) => Promise<void>, timeouts = bodyTimeouts): Promise<void> {
  await using installation = openInstallation()
  const url = await installation.serve(undefined, { bodyTimeouts: timeouts })
  await run(Number(new URL(url).port), url)
}

/** A request with an open body. */
function begin(port: number, path: string, type: string, length: number, start: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${start}`,
  )
  return socket
}

/** All that comes until the server ends the connection; a client that waits for that longer than half a minute gives up. */
function toTheEnd(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const timer = setTimeout(() => reject(new Error(`no end after: ${heard}`)), 30_000)
    socket.on('data', (piece) => {
      heard += piece
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(heard)
    })
  })
}
