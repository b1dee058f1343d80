import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'
import type { FromModel, GenerationEnd, GenerationRequest, PlainError, ToModel } from './model-messages.ts'

export interface ModelProcessOptions {
  readonly kind: 'chat' | 'embedding'
  readonly name: string
  readonly folder: string
  /** Threads of one computation; all cores but one where nothing is said. */
  readonly threads?: number
  /** Calls that may wait behind the one that is answered. */
  readonly waiting?: number
  /** Milliseconds without a call after which the process ends and its memory is free again. */
  readonly idleMs?: number
  /** How long loading the model may take, in milliseconds. */
  readonly openMs?: number
  /** How long a cancelled call may go on before the process is killed, in milliseconds. */
  readonly graceMs?: number
}

/** A model in a process of its own. A crash or hang costs the call in flight; the next call starts a new process. */
export interface ModelProcess {
  /** The process that is running now. */
  readonly pid: number | undefined
  /**
   * The answer piece by piece, then how it ended. Leaving early, or aborting, cancels it within one token.
   * Throws `ModelLost` when the process ends, `QueueFull` when too many calls wait, and what the model itself throws.
   */
  generate(request: GenerationRequest, signal?: AbortSignal): AsyncGenerator<string, GenerationEnd, undefined>
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>
  close(): Promise<void>
}

/** The process ended in the middle of a call. The code is the one of a connection that breaks: the same call may succeed. */
class ModelLost extends Error {
  override readonly name = 'ModelLost'
  readonly code = 'ECONNRESET'
}

export class QueueFull extends Error {
  override readonly name = 'QueueFull'
  readonly waiting: number

  constructor(waiting: number) {
    super(`${waiting} calls are waiting for the model already`)
    this.waiting = waiting
  }
}

type Answer = Exclude<FromModel, { type: 'ready' | 'unusable' }>

interface Running {
  readonly child: ChildProcess
  readonly ready: Promise<void>
  /** Where the messages of the call in flight go. */
  receive: ((answer: Answer | Error) => void) | undefined
}

export function createModelProcess(options: ModelProcessOptions): ModelProcess {
  const { waiting: mostWaiting = 8, idleMs = 300_000, openMs = 120_000, graceMs = 2_000 } = options
  const threads = options.threads ?? Math.max(1, availableParallelism() - 1)
  let running: Running | undefined
  let closed = false
  let calls = 0
  let idle: NodeJS.Timeout | undefined
  /** Calls that are answered or wait. */
  let inside = 0
  /** Resolves when the last call that was let in is over. */
  let tail: Promise<void> = Promise.resolve()

  return {
    get pid() {
      return running?.child.pid
    },
    async *generate(request, signal) {
      const conversation = converse({ type: 'generate', request }, signal)
      for await (const answer of conversation) {
        if (answer.type === 'text') yield answer.text
        else if (answer.type === 'generated') return answer.end
      }
      throw new ModelLost('the model ended without an answer')
    },
    async embed(texts, signal) {
      for await (const answer of converse({ type: 'embed', texts }, signal))
        if (answer.type === 'embedded') return answer.vectors
      throw new ModelLost('the model ended without an answer')
    },
    async close() {
      closed = true
      clearTimeout(idle)
      await end(running)
    },
  }

  /** One call: waits for its turn, sends, and yields what comes back until the call is over. */
  async function* converse(question: Question, signal?: AbortSignal): AsyncGenerator<Answer> {
    const leave = await takeTurn(signal)
    try {
      const model = start()
      await unlessAborted(model.ready, signal)
      signal?.throwIfAborted()
      yield* exchange(model, question, signal)
    } finally {
      leave()
    }
  }

  /** First come, first served; throws QueueFull instead of letting the line grow. */
  async function takeTurn(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (inside > mostWaiting) throw new QueueFull(inside - 1)
    const before = tail
    let leave = () => {}
    tail = new Promise((resolve) => {
      leave = () => {
        rest()
        resolve()
      }
    })
    inside++
    try {
      await unlessAborted(before, signal)
    } catch (reason) {
      inside--
      // Who leaves the line early is passed over when his turn comes.
      void before.then(leave)
      throw reason
    }
    clearTimeout(idle)
    return () => {
      inside--
      leave()
    }
  }

  function rest(): void {
    clearTimeout(idle)
    if (closed) return
    idle = setTimeout(() => void end(running), idleMs)
    idle.unref()
  }

  async function* exchange(model: Running, question: Question, signal?: AbortSignal): AsyncGenerator<Answer> {
    const call = ++calls
    const queue: (Answer | Error)[] = []
    let wake = () => {}
    let over = false
    let timer: NodeJS.Timeout | undefined
    model.receive = (answer) => {
      if (answer instanceof Error || (answer.call === call && answer.type !== 'text')) over = true
      if (answer instanceof Error || answer.call === call) queue.push(answer)
      wake()
    }
    const cancel = () => {
      if (over || timer) return
      send(model, { type: 'cancel', call })
      // Native code that hangs does not hear us.
      timer = setTimeout(() => model.child.kill('SIGKILL'), graceMs)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    if (!model.child.connected) model.receive(new ModelLost('the process of the model has ended'))
    send(model, { ...question, call })
    try {
      for (;;) {
        for (let next = queue.shift(); next; next = queue.shift()) {
          signal?.throwIfAborted()
          if (next instanceof Error) throw next
          if (next.type === 'failed') throw revive(next.error)
          yield next
          if (next.type !== 'text') return
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      signal?.removeEventListener('abort', cancel)
      // The next call must not begin before the model has let go of this one.
      if (!over) cancel()
      while (!over)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      clearTimeout(timer)
      model.receive = undefined
    }
  }

  function start(): Running {
    if (closed) throw new AppError('unavailable', `The model ${options.name} is closed`)
    running ??= launch()
    return running
  }

  function launch(): Running {
    const child = spawnChild()
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-500)
    })
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), openMs)
      child.on('message', (message: FromModel) => {
        if (message.type === 'ready') {
          clearTimeout(timer)
          resolve()
        } else if (message.type === 'unusable') reject(revive(message.error))
        else model.receive?.(message)
      })
      const gone = (reason: string) => {
        clearTimeout(timer)
        if (running === model) running = undefined
        const lost = new ModelLost(`the process of the model ${options.name} ended: ${reason}`)
        reject(lost)
        model.receive?.(lost)
      }
      child.once('error', (error) => gone(error.message))
      child.once('exit', (code, signal) =>
        gone([signal ?? `exit code ${code}`, said.trim()].filter(Boolean).join(': ')),
      )
    })
    const model: Running = { child, ready, receive: undefined }
    ready.catch(() => {
      // Whoever waits for it hears of it; a process that could not open its model is of no use to the next caller.
      if (running === model) running = undefined
      child.kill('SIGKILL')
    })
    const { kind, name, folder } = options
    send(model, { type: 'open', kind, name, folder, threads })
    return model
  }

  async function end(model: Running | undefined): Promise<void> {
    if (!model) return
    if (running === model) running = undefined
    if (model.child.exitCode !== null || model.child.signalCode !== null) return
    const ended = new Promise((resolve) => model.child.once('exit', resolve))
    const timer = setTimeout(() => model.child.kill('SIGKILL'), graceMs)
    if (model.child.connected) model.child.disconnect()
    await ended
    clearTimeout(timer)
  }
}

type Question = Omit<Extract<ToModel, { type: 'generate' }>, 'call'> | Omit<Extract<ToModel, { type: 'embed' }>, 'call'>

function send({ child }: Running, message: ToModel): void {
  // A process that has just died is noticed by its exit.
  if (child.connected) child.send(message, undefined, {}, () => {})
}

/** Started with an empty environment, so that no key reaches native code. */
function spawnChild(): ChildProcess {
  const self = import.meta.url
  // From the sources the child needs the loader that its parent has.
  const loader = self.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  const entry = new URL(self.endsWith('.ts') ? './model-child.ts' : './model-child.js', self)
  return spawn(process.execPath, [...loader, fileURLToPath(entry)], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    windowsHide: true,
  })
}

function revive({ code, message, details }: PlainError): AppError {
  return new AppError(code, message, { details })
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise
  let leave = () => {}
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
  })
  signal.addEventListener('abort', leave, { once: true })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
