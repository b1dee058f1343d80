import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { closesInHandshake, type FaultyWay, neverAnswers, openWay } from '../../helpers/postgres/faults.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('faults on the way to a database')

/** Answers every byte with itself. */
let echo: Server
let way: FaultyWay

test.before.each(async () => {
  echo = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  way = await openWay((echo.address() as AddressInfo).port)
})

test.after.each(async () => {
  await way.close()
  echo.close()
  await once(echo, 'close')
})

test('a way passes bytes and ends, and names itself in the address of a database', async () => {
  assert.is(way.at('postgresql://ada:secret@127.0.0.1:5432/db'), `postgresql://ada:secret@127.0.0.1:${way.port}/db`)
  const socket = await open(way.port)
  assert.is(await answered(socket, 'one'), 'one')
  socket.end()
  await once(socket, 'close')
  assert.is(way.attempts(), 1)
})

test('a way that is cut resets what is open and each new connection, until it is resumed', async () => {
  const socket = await open(way.port)
  assert.is(await answered(socket, 'one'), 'one')
  way.cut()
  assert.is(await errorOf(socket), 'ECONNRESET')
  assert.is(await errorOf(connect(way.port, '127.0.0.1')), 'ECONNRESET')
  way.resume()
  const again = await open(way.port)
  assert.is(await answered(again, 'two'), 'two')
  assert.is(way.attempts(), 3)
  again.destroy()
})

test('a stalled way passes nothing, and all of it once it is resumed', async () => {
  const old = await open(way.port)
  assert.is(await answered(old, 'one'), 'one')
  way.stall()
  let heard = ''
  old.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  old.write('two')
  const recent = await open(way.port)
  recent.write('three')
  // Another way through the same loop of events passes bytes meanwhile.
  const other = await openWay((echo.address() as AddressInfo).port)
  const beside = await open(other.port)
  for (let round = 0; round < 5; round++) assert.is(await answered(beside, 'x'), 'x')
  assert.is(heard, '')
  way.resume()
  assert.is(String((await once(recent, 'data'))[0]), 'three')
  while (heard !== 'two') await once(old, 'data')
  for (const socket of [old, recent, beside]) socket.destroy()
  await other.close()
})

test('a client that leaves a stalled way is forgotten once it is resumed', async () => {
  const socket = await open(way.port)
  assert.is(await answered(socket, 'one'), 'one')
  way.stall()
  socket.resetAndDestroy()
  await once(socket, 'close')
  way.resume()
  const connections = () => new Promise<number>((resolve) => echo.getConnections((_, count) => resolve(count)))
  while ((await connections()) > 0) await new Promise((resolve) => setImmediate(resolve))
})

test('one server closes in the handshake, another accepts and never answers', async () => {
  const closing = await closesInHandshake()
  const socket = await open(closing.port)
  socket.write('start')
  await closed(socket)
  assert.is(closing.attempts(), 1)
  await closing.close()
  const silent = await neverAnswers()
  const waiting = await open(silent.port)
  waiting.write('start')
  waiting.on('data', () => assert.unreachable())
  await silent.close()
  await closed(waiting)
})

test.run()

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

async function answered(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  return String((await once(socket, 'data'))[0])
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) =>
    socket
      .on('error', () => {})
      .resume()
      .once('close', resolve),
  )
}

async function errorOf(socket: Socket): Promise<unknown> {
  const [reason] = await once(socket.resume(), 'error')
  return reason.code
}
