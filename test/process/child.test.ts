// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { type Child, type ChildOptions, spawnChild } from '../../src/process/child.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'
import type { FaultyMethods } from './faulty-child.ts'

const test = suite('a child process')
const module = { beside: import.meta.url, name: './faulty-child' }

class Lost extends Error {}

type Ends = [reason: string, killed: boolean][]

/** The child of all tests that leave theirs running. */
let shared: { readonly child: Child<FaultyMethods>; readonly ends: Ends } | undefined
test.after(() => shared?.child.kill())

test('items come in their order, before the result; a reader that is slow loses none', () =>
  withChild(async (child) => {
    const items = child.stream('count', 300)
    const seen: number[] = []
    for (;;) {
      const next = await items.next()
      if (next.done) {
        assert.is(next.value, 300)
        break
      }
      seen.push(next.value)
      await new Promise(setImmediate)
    }
    assert.equal(
      seen,
      Array.from({ length: 300 }, (_, i) => i),
    )
  }))

test('plain data crosses whole: samples, large numbers, maps', () =>
  withChild(async (child) => {
    const data = { samples: Float32Array.of(0.5, -1), count: 2n ** 60n, map: new Map([['a', [undefined]]]) }
    assert.equal(await child.request('echo', data), data)
  }))

test('requests are answered one after the other, in their order', () =>
  withChild(async (child) => {
    const order: number[] = []
    const calls = [1, 2, 3].map(async (number) => {
      const most = await child.request('overlap', null)
      order.push(number)
      return most
    })
    assert.equal(await Promise.all(calls), [1, 1, 1])
    assert.equal(order, [1, 2, 3])
  }))

test('an AppError crosses with its code, details and cause; the process goes on', () =>
  withChild(async (child) => {
    const error = (await errorOf(child.request('fail', 'app'))) as AppError
    assert.equal(
      [error.name, error.code, error.message, error.details, error.retryAfter, (error.cause as Error).message],
      ['AppError', 'busy', 'Come again', ['in a while'], 3, 'TypeError: no memory'],
    )
    assert.is(await child.request('echo', 'still here'), 'still here')
  }))

test('an error of the system crosses with its code, path and call, and a thrown text as a message', () =>
  withChild(async (child) => {
    const { code, path, syscall } = (await errorOf(child.request('fail', 'system'))) as NodeJS.ErrnoException
    assert.equal([code, path, syscall], ['ENOENT', '/nonexistent/file', 'open'])
    assert.is((await errorOf(child.request('fail', 'text'))).message, 'a text')
  }))

test('errors may be mapped', () =>
  withChild(async (child) => assert.is((await errorOf(child.request('fail', 'text'))).message, 'mapped: a text'), {
    failed: ({ message }) => new Error(`mapped: ${message}`),
  }))

test('a result that is not plain data and an unknown method are errors of the call', () =>
  withChild(async (child) => {
    assert.match((await errorOf(child.request('uncloneable', null))).message, /could not be cloned/)
    assert.match((await errorOf(child.request('missing' as 'echo', null))).message, /method not found: missing/)
    assert.match((await errorOf(child.request('toString' as 'echo', null))).message, /method not found: toString/)
  }))

test('a crash fails every call in flight with the signal and the last words on stderr', () =>
  withChild(
    async (child, ends) => {
      const calls = [child.request('crash', null), child.request('echo', 1)].map(errorOf)
      for (const error of await Promise.all(calls)) {
        assert.instance(error, Lost)
        assert.is(error.message, 'SIGKILL: no memory left')
      }
      assert.equal(ends, [['SIGKILL: no memory left', false]])
      assert.instance(await errorOf(child.request('echo', 1)), Lost)
    },
    { stderr: 'pipe' },
  ))

test('a module that cannot be loaded is a loss', () =>
  withChild(async (child) => assert.is((await errorOf(child.request('echo', 1))).message, 'exit code 1'), {
    module: { beside: import.meta.url, name: './no-such-module' },
  }))

test('an aborted call ends with the reason and leaves the process running', () =>
  withChild(async (child, ends) => {
    const controller = new AbortController()
    const items = child.stream('wait', null, controller.signal)
    assert.is((await items.next()).value, 'begun')
    controller.abort(new Error('enough'))
    assert.is((await errorOf(items.next())).message, 'enough')
    assert.is(await child.request('echo', 1), 1)
    assert.equal(ends, [])
  }))

test('a reader that leaves early cancels the call', () =>
  withChild(async (child) => {
    for await (const item of child.stream('wait', null)) {
      assert.is(item, 'begun')
      break
    }
    assert.is(await child.request('echo', 1), 1)
  }))

test('a call that is aborted before it is sent is not sent', () =>
  withChild(async (child) => {
    const error = await errorOf(child.request('crash', null, AbortSignal.abort(new Error('too early'))))
    assert.is(error.message, 'too early')
    assert.is(await child.request('echo', 1), 1)
  }))

test('a call that is cancelled in the line does not run', () =>
  withChild(async (child) => {
    const [first, second] = [new AbortController(), new AbortController()]
    const running = child.stream('wait', null, first.signal)
    await running.next()
    const waiting = errorOf(child.request('crash', null, second.signal))
    second.abort(new Error('left the line'))
    first.abort(new Error('freed the place'))
    assert.is((await errorOf(running.next())).message, 'freed the place')
    assert.is((await waiting).message, 'left the line')
    assert.is(await child.request('echo', 1), 1)
  }))

test('a call that goes on after its cancellation is killed with its process', () =>
  withChild(
    async (child, ends) => {
      const controller = new AbortController()
      const items = child.stream('hang', null, controller.signal)
      assert.is((await items.next()).value, 'begun')
      controller.abort(new DOMException('The time is over', 'TimeoutError'))
      assert.is((await errorOf(items.next())).name, 'TimeoutError')
      assert.equal(ends, [['SIGKILL', true]])
    },
    { graceMs: 20 },
  ))

for (const frame of ['babble', 7, {}, { type: 'result', call: 999, result: 1 }, { type: 'unknown', call: 1 }])
  test(`a frame outside of the protocol costs the process: ${JSON.stringify(frame)}`, () =>
    withChild(async (child, ends) => {
      const error = await errorOf(child.request('babble', frame))
      assert.instance(error, Lost)
      assert.is(error.message, 'invalid frame')
      assert.equal(ends, [['invalid frame', false]])
    }, {}))

test.whole('a child feels backpressure: an item is taken only as fast as the parent reads', async () => {
  const folder = temporaryFolder()
  const report = join(folder, 'report')
  // More than any system holds in a pipe.
  const bytes = 32 * 1024 * 1024
  await withChild(async (child) => {
    await child.request('echo', 'ready')
    const items = child.stream('flood', { bytes, report })
    const first = items.next()
    // This thread reads nothing until the child has reported.
    const pause = new Int32Array(new SharedArrayBuffer(4))
    while (!existsSync(report) || readFileSync(report, 'utf8') === '') Atomics.wait(pause, 0, 0, 1)
    assert.is(readFileSync(report, 'utf8'), 'false')
    const { value } = await first
    assert.is((value as Uint8Array).length, bytes)
    assert.is((await items.next()).value, true)
  })
  rmSync(folder, { recursive: true })
})

test('the environment is empty, the given one, or the parent’s', async () => {
  const seen = async (options: Pick<ChildOptions, 'environment'>) => {
    let names: readonly string[] = []
    await withChild(async (child) => {
      names = await child.request('environment', null)
    }, options)
    // Node's own channel, and a variable that macOS adds to every process.
    return names.filter((name) => !/^(?:NODE_CHANNEL_.*|__CF_USER_TEXT_ENCODING)$/.test(name))
  }
  assert.equal(await seen({}), [])
  assert.equal(await seen({ environment: { GIVEN: '1' } }), ['GIVEN'])
  assert.ok((await seen({ environment: 'inherited' })).includes('PATH'))
})

test('SIGINT and SIGTERM do not end it', () =>
  withChild(async (child) => assert.is(await child.request('interrupt', null), 'alive')))

test.whole('closing aborts the calls, and kills a process that goes on', async () => {
  for (const [method, killed] of [
    ['wait', false],
    ['hang', true],
  ] as const)
    await withChild(
      async (child, ends) => {
        const items = child.stream(method, null)
        await items.next()
        const rest = errorOf(items.next())
        await child.close()
        assert.instance(await rest, Lost)
        assert.equal(ends, [[killed ? 'SIGKILL' : 'exit code 0', killed]])
        await child.close()
      },
      { graceMs: killed ? 20 : 60_000 },
    )
})

for (const kind of ['child', 'task'])
  test(`a ${kind} ends when its parent is gone`, async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const isSource = import.meta.url.endsWith('.ts')
    const script = fileURLToPath(new URL(`./orphaning-parent.${isSource ? 'ts' : 'js'}`, import.meta.url))
    const loader = isSource ? ['--import', 'tsx'] : []
    const parent = spawn(process.execPath, [...loader, script, String(port), kind], { stdio: 'ignore' })
    const socket = await connection(server)
    const isClosed = once(socket, 'close')
    parent.kill('SIGKILL')
    await isClosed
    server.close()
  })

async function connection(server: Server): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket]
  // Its process is killed.
  socket.on('error', () => {}).resume()
  return socket
}

/** Works with the child that tests share, or with one of its own where there are options. */
async function withChild(
  work: (child: Child<FaultyMethods>, ends: Readonly<Ends>) => Promise<void>,
  options?: Partial<ChildOptions>,
): Promise<void> {
  if (!options) {
    shared ??= start({})
    return work(shared.child, shared.ends)
  }
  const { child, ends } = start(options)
  try {
    await work(child, ends)
  } finally {
    child.kill()
  }
}

function start(options: Partial<ChildOptions>) {
  const ends: Ends = []
  const child = spawnChild<FaultyMethods>({
    module,
    graceMs: 60_000,
    lost: (reason) => new Lost(reason),
    onEnd: (reason, killed) => ends.push([reason, killed]),
    ...options,
  })
  return { child, ends }
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

test.run()
