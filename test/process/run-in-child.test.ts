// Some with --all only: many processes.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { runInChild } from '../../src/process/run-in-child.ts'
import { closing } from '../helpers/disposal.ts'
import { errorOf } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'
import type { SampleTask } from './task-child.ts'

const test = suite('a task in a process of its own')

const run = (task: SampleTask, signal?: AbortSignal) =>
  runInChild<number>({ beside: import.meta.url, name: './task-child' }, task, signal)

test('it resolves with the result of the task', async () => {
  assert.is(await run({ action: 'double', number: 21 }), 42)
})

test('it rejects with the error of the task', async () => {
  const error = await errorOf(run({ action: 'fail' }))
  assert.equal([error.code, error.message, error.details], ['too_large', 'The package is too large', ['split it']])
})

test('a process that ends before its answer is an internal error', async () => {
  const error = await errorOf(run({ action: 'leave' }))
  assert.equal([error.code, error.message], ['internal', 'The process of ./task-child ended early'])
})

test('an abort ends the process before it rejects', () =>
  withServer(async (port, sockets) => {
    const controller = new AbortController()
    const held = run({ action: 'hold', port }, controller.signal).catch((thrown: Error) => thrown.message)
    const socket = await sockets()
    const isClosed = once(socket, 'close')
    controller.abort(new Error('enough'))
    assert.is(await held, 'enough')
    await isClosed
  }))

test.whole('four run at the same time, 64 wait, and one more is refused', () =>
  withServer(async (port, sockets) => {
    const controller = new AbortController()
    const running = Array.from({ length: 4 }, () => run({ action: 'hold', port, number: 1 }))
    const waiting = Array.from({ length: 64 }, () => run({ action: 'hold', port }, controller.signal))
    const left = Promise.allSettled(waiting)
    const refused = await errorOf(run({ action: 'double' }))
    assert.equal([refused.code, refused.retryAfter], ['busy', 10])
    const held = [await sockets(), await sockets(), await sockets(), await sockets()]
    controller.abort(new Error('enough'))
    assert.ok((await left).every(({ status }) => status === 'rejected'))
    for (const socket of held) socket.end()
    assert.equal(await Promise.all(running), [2, 2, 2, 2])
    assert.is(await run({ action: 'double', number: 1 }), 2)
  }),
)

/** A server; `sockets` takes its connections one by one. */
async function withServer(work: (port: number, sockets: () => Promise<Socket>) => Promise<void>): Promise<void> {
  const arrived: Socket[] = []
  let wake = () => {}
  await using server = closing(
    createServer((socket) => {
      // A killed process resets its connection.
      arrived.push(socket.on('error', () => {}).resume())
      wake()
    }).listen(0, '127.0.0.1'),
  )
  await once(server, 'listening')
  await work((server.address() as AddressInfo).port, async () => {
    while (arrived.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return arrived.shift()!
  })
}

test.run()
