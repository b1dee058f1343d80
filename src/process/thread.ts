import { fileURLToPath } from 'node:url'
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
  workerData,
} from 'node:worker_threads'
import { AppError } from '../errors.ts'
import type { ChildModule } from './child.ts'
import { errorOf, type Failure, failureOf } from './frames.ts'

/** A thread of this process, whose items are waited for without the event loop: for a process that does one task. */
export interface Thread<I> {
  /**
   * The next item, undefined behind the last one. Throws the error of the thread's work, and `internal` where the thread has
   * ended without one (out of memory; noticed within about a second), or says nothing for ten minutes.
   */
  next(): I | undefined
  /** Ends the thread wherever it is. May be called again. */
  stop(): void
}

type Message<I> = { readonly item: I } | { readonly failure: Failure } | { readonly end: true }

interface ThreadData {
  readonly port: MessagePort
  readonly counts: Int32Array<SharedArrayBuffer>
  readonly task: unknown
}

/** Places of `counts`: messages that were sent, and those that were taken. */
const [sent, taken] = [0, 1]

/** Items that wait at most: those of one turn of their user, some megabytes of vectors. */
const mostWaiting = 24

/**
 * Milliseconds without a message after which a thread that lives is lost. Looking through a file of 4 GiB takes a slow disk
 * more than a minute.
 */
const longestSilence = 600_000

/** Milliseconds between two looks at whether a silent thread lives: its 'exit' event reaches no thread that waits. */
const lookEvery = 1000

/** False from the sources: the loader that they need loads nothing on a thread for which the first one waits. */
export const canStartThreads = !import.meta.url.endsWith('.ts')

/** Starts a module that calls `serveThread` on a thread. */
export function startThread<I>({ beside, name }: ChildModule, task: unknown): Thread<I> {
  const { port1: port, port2 } = new MessageChannel()
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const thread = new Worker(fileURLToPath(new URL(`${name}.js`, beside)), {
    workerData: { port: port2, counts, task } satisfies ThreadData,
    transferList: [port2],
    execArgv: [],
    // MiB. Without it a thread keeps dead buffers for longer than it takes to read some hundred megabytes.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
    env: {},
  })
  thread.unref()
  // Its errors reach `next`; an event that nothing hears would end the process.
  thread.on('error', () => {})
  // A message to a port whose other end is gone is not delivered, and Node.js 20 to 24 return that, which their documentation
  // leaves out: a version that says nothing at the start is not asked. The thread reads none of these messages.
  const isDelivered = () => (port.postMessage(undefined) as unknown) === true
  const tellsDelivery = isDelivered()
  return {
    next() {
      const message = wait()
      if ('failure' in message) throw errorOf(message.failure)
      return 'item' in message ? message.item : undefined
    },
    stop() {
      port.close()
      void thread.terminate()
    },
  }

  function wait(): Message<I> {
    let hasEnded = false
    for (let silence = 0; ; ) {
      const seen = Atomics.load(counts, sent)
      const received = receiveMessageOnPort(port) as { readonly message: Message<I> } | undefined
      if (received) {
        Atomics.add(counts, taken, 1)
        Atomics.notify(counts, taken)
        return received.message
      }
      if (hasEnded) throw new AppError('internal', `The thread of ${name} ended early`)
      if (silence >= longestSilence) throw new AppError('internal', `The thread of ${name} does not answer`)
      if (Atomics.wait(counts, sent, seen, lookEvery) !== 'timed-out') continue
      silence += lookEvery
      // Its last messages are still there, and are taken first.
      hasEnded = tellsDelivery && !isDelivered()
    }
  }
}

/**
 * Does the task of a thread. `emit` hands an item over, with buffers that are moved rather than copied, and waits where too
 * many of them wait.
 */
export async function serveThread<T, I>(
  perform: (task: T, emit: (item: I, moved: readonly Transferable[]) => void) => Promise<void>,
): Promise<void> {
  const { port, counts, task } = workerData as ThreadData
  const send = (message: Message<I>, moved: readonly Transferable[] = []) => {
    port.postMessage(message, moved)
    const count = Atomics.add(counts, sent, 1) + 1
    Atomics.notify(counts, sent)
    for (let seen = Atomics.load(counts, taken); count - seen >= mostWaiting; seen = Atomics.load(counts, taken))
      Atomics.wait(counts, taken, seen)
  }
  try {
    await perform(task as T, (item, moved) => send({ item }, moved))
    send({ end: true })
  } catch (reason) {
    send({ failure: failureOf(reason) })
  }
}
