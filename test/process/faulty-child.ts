import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { AppError } from '../../src/errors.ts'
import { serveParent } from '../../src/process/child-side.ts'

/** A child with methods that are named after their faults. */
export interface FaultyMethods {
  readonly open: { readonly input: 'well' | 'fail' | 'hang' | 'crash'; readonly result: { readonly pid: number } }
  readonly echo: { readonly input: unknown; readonly result: unknown }
  /** Emits 0 … n - 1 and returns n. */
  readonly count: { readonly input: number; readonly item: number; readonly result: number }
  readonly wait: { readonly input: null; readonly item: string }
  /** Emits once, then blocks the thread as native code does. */
  readonly hang: { readonly input: null; readonly item: string }
  readonly crash: { readonly input: null }
  readonly fail: { readonly input: 'app' | 'system' | 'text' }
  /** Sends a frame outside of the protocol, then waits for its signal. */
  readonly babble: { readonly input: unknown }
  /** The most calls that were under way at the same time. */
  readonly overlap: { readonly input: null; readonly result: number }
  /** Emits bytes and writes to a file whether the channel has taken them within a turn of the event loop. */
  readonly flood: {
    readonly input: { readonly bytes: number; readonly report: string }
    readonly item: Uint8Array
    readonly result: boolean
  }
  readonly environment: { readonly input: null; readonly result: readonly string[] }
  readonly interrupt: { readonly input: null; readonly result: string }
  /** Opens a connection that lasts as long as the process. */
  readonly connect: { readonly input: number }
  readonly uncloneable: { readonly input: null; readonly result: unknown }
}

let underWay = 0
let most = 0

serveParent<FaultyMethods>(
  {
    open(how) {
      if (how === 'fail') throw new AppError('unavailable', 'The weights are missing', { details: ['fetch them'] })
      if (how === 'hang') for (;;);
      if (how === 'crash') process.kill(process.pid, 'SIGKILL')
      return { pid: process.pid }
    },
    echo: (input) => input,
    async count(n, { emit }) {
      for (let i = 0; i < n; i++) await emit(i)
      return n
    },
    async wait(_, { emit, signal }) {
      await emit('begun')
      await aborted(signal)
    },
    async hang(_, { emit }) {
      await emit('begun')
      for (;;);
    },
    crash() {
      process.stderr.write('no memory left')
      process.kill(process.pid, 'SIGKILL')
      for (;;);
    },
    fail(how) {
      if (how === 'app')
        throw new AppError('busy', 'Come again', {
          details: ['in a while'],
          retryAfter: 3,
          cause: new TypeError('no memory'),
        })
      if (how === 'system') readFileSync('/nonexistent/file')
      throw 'a text'
    },
    async babble(frame, { signal }) {
      process.send!(frame)
      await aborted(signal)
    },
    async overlap() {
      underWay++
      most = Math.max(most, underWay)
      await new Promise(setImmediate)
      underWay--
      return most
    },
    async flood({ bytes, report }, { emit }) {
      let isTaken = false
      const taken = emit(new Uint8Array(bytes).fill(7)).then(() => {
        isTaken = true
      })
      await new Promise(setImmediate)
      writeFileSync(report, String(isTaken))
      await taken
      return isTaken
    },
    environment: () => Object.keys(process.env),
    async interrupt() {
      process.kill(process.pid, 'SIGINT')
      process.kill(process.pid, 'SIGTERM')
      await new Promise(setImmediate)
      return 'alive'
    },
    async connect(port) {
      await once(connect(port, '127.0.0.1').unref(), 'connect')
    },
    uncloneable: () => () => {},
  },
  () => {},
)

async function aborted(signal: AbortSignal): Promise<never> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  throw signal.reason
}
