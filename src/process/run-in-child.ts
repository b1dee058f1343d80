import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AppError, type FailureCode } from '../errors.ts'

/** What came of a task: its result, or why it could not be done. */
export type TaskAnswer<R> = { readonly result: R } | { readonly failure: TaskFailure }

interface TaskFailure {
  readonly message: string
  /** Of a file system's or a database's error. */
  readonly code?: string
  /** Of one of our own errors. */
  readonly own?: { readonly code: FailureCode; readonly details: readonly string[]; readonly retryAfter?: number }
}

/** A module that does tasks in a process of its own, as its importer names it: `import.meta.url` and `./name`. */
export interface TaskModule {
  readonly beside: string
  readonly name: string
}

/**
 * So many tasks are done at once, each in its process: twice as many as one user may have by default, so that no user holds
 * up all others. The rest wait in line, up to so many of them.
 */
const mostRunning = 4
const mostWaiting = 64

/**
 * Has a task done by a module in a process of its own: what computes for seconds would hold up every other request here,
 * and its memory would stay. The task goes over a channel that no list of processes shows. When `signal` is aborted the
 * process is ended. Rejects with the AppError that the task ended with, or with an Error of the failure's message and
 * code; `busy` when too many tasks wait already.
 */
export async function runInChild<R>(module: TaskModule, task: unknown, signal?: AbortSignal): Promise<R> {
  await takePlace(signal)
  try {
    return await done<R>(module, task, signal)
  } finally {
    running--
    waiting.shift()?.()
  }
}

let running = 0
const waiting: (() => void)[] = []

async function takePlace(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  if (running >= mostRunning) {
    if (waiting.length >= mostWaiting)
      throw new AppError('busy', 'Too many packages are being worked on', { retryAfter: 10 })
    await new Promise<void>((resolve, reject) => {
      const called = () => {
        signal?.removeEventListener('abort', leave)
        // Counted at once, so that nobody steps in between.
        running++
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(called), 1)
        reject(signal?.reason)
      }
      waiting.push(called)
      signal?.addEventListener('abort', leave, { once: true })
    })
  } else running++
}

function done<R>({ beside, name }: TaskModule, task: unknown, signal: AbortSignal | undefined): Promise<R> {
  const extension = beside.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(fileURLToPath(new URL(`${name}.${extension}`, beside)), {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const stop = () => void child.kill('SIGKILL')
  signal?.addEventListener('abort', stop, { once: true })
  return new Promise<R>((resolve, reject) => {
    child.once('error', reject)
    child.once('message', (answer: TaskAnswer<R>) => {
      if ('result' in answer) resolve(answer.result)
      else reject(errorOf(answer.failure))
    })
    child.once('exit', () =>
      reject(signal?.aborted ? signal.reason : new AppError('internal', `The process of ${name} ended early`)),
    )
    child.send(task as object)
  }).finally(() => signal?.removeEventListener('abort', stop))
}

function errorOf({ message, code, own }: TaskFailure): Error {
  if (own) return new AppError(own.code, message, own)
  return Object.assign(new Error(message), code !== undefined && { code })
}

/** The other side: does the one task this process is sent, answers, and ends. It also ends when nobody waits any more. */
export function serveTask<T, R>(perform: (task: T) => R | Promise<R>): void {
  const stop = () => process.kill(process.pid)
  process.once('disconnect', stop)
  process.once('message', (task: T) => void answerOf(perform, task).then(send))

  function send(answer: TaskAnswer<R>): void {
    process.send?.(answer, () => {
      process.off('disconnect', stop)
      process.disconnect()
    })
  }
}

async function answerOf<T, R>(perform: (task: T) => R | Promise<R>, task: T): Promise<TaskAnswer<R>> {
  try {
    return { result: await perform(task) }
  } catch (reason) {
    return { failure: failureOf(reason) }
  }
}

function ownFailure({ code, details, retryAfter }: AppError): NonNullable<TaskFailure['own']> {
  return { code, details, ...(retryAfter !== undefined && { retryAfter }) }
}

function failureOf(reason: unknown): TaskFailure {
  if (reason instanceof AppError) return { message: reason.message, own: ownFailure(reason) }
  const code = (reason as { code?: unknown } | null)?.code
  return { message: String(reason), ...(typeof code === 'string' && /^(?:E|SQLITE_)[A-Z_]+$/.test(code) && { code }) }
}
