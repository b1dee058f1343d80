import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { connectionFailure, connectionSentence } from '../../src/http/connection-failure.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a connection that could not be made')

test('names the address at which nothing listens', async () => {
  const port = await closedPort()
  const reason = await failureOf(port, '127.0.0.1')
  assert.is(
    connectionSentence(reason),
    `nothing listens on 127.0.0.1:${port} (connection refused): start the service there, or correct its address`,
  )
  assert.is(connectionFailure(new Error('fetch failed', { cause: reason }))?.isName, false)
})

test('names every address of a name that was tried', () => {
  const attempt = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}:9`), { code: 'ECONNREFUSED', address, port: 9 })
  const all = new AggregateError([attempt('::1'), attempt('127.0.0.1')])
  assert.is(connectionFailure(all)?.problem, 'nothing listens on [::1]:9 or 127.0.0.1:9 (connection refused)')
})

test('is no connection that broke after it was made', () => {
  const broken = (syscall: string) => Object.assign(new Error('broken'), { code: 'ETIMEDOUT', syscall })
  assert.is(connectionFailure(broken('read')), undefined)
  assert.match(connectionFailure(broken('connect'))!.problem, /cannot be reached \(ETIMEDOUT\)/)
})

test('is looked for in five causes of a failure and no further', () => {
  const refused: unknown = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const behind = (count: number) => {
    let reason = refused
    for (let at = 0; at < count; at++) reason = new Error('around it', { cause: reason })
    return reason
  }
  assert.ok(connectionFailure(behind(4)))
  assert.equal([connectionFailure(behind(5)), connectionFailure('no error')], [undefined, undefined])
})

/** A port of this machine at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function failureOf(port: number, host: string): Promise<unknown> {
  const socket = connect({ port, host })
  const [reason] = await once(socket, 'error')
  return reason
}

test.run()
