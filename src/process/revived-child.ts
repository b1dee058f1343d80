import { AppError, toAppError } from '../errors.ts'
import { type Child, type ChildOptions, spawnChild } from './child.ts'
import type { Input, Method, Methods, Result } from './frames.ts'

export interface RevivedChildOptions<M extends OpenedMethods<M>>
  extends Pick<ChildOptions, 'module' | 'environment'>,
    Partial<Pick<ChildOptions, 'lost' | 'failed' | 'graceMs'>> {
  /** Its name in errors, such as "The speech engine". */
  readonly name: string
  /** The input of the method `open`, which each new process is sent first. */
  readonly open: Input<M, 'open'>
  /** Milliseconds that opening may take before the process is killed: 120 s by default. */
  readonly openMs?: number
  /** After `losses` crashes without an item in between no process is started for `restMs` milliseconds; unbounded by default. */
  readonly crashBudget?: { readonly losses: number; readonly restMs: number }
  /** Called when the process ended by itself or was killed: for the log. */
  onLoss?(reason: string): void
}

/** Methods of a child that is opened before it is called. */
export type OpenedMethods<M> = Methods<M> & { readonly open: Method }

/** A child that is started at its first call, and again after a crash: a crash or hang costs the calls in flight. */
export interface RevivedChild<M extends OpenedMethods<M>> {
  /** The process that is running now. */
  readonly pid: number | undefined
  /** The result of the latest `open`. */
  readonly opened: Result<M, 'open'> | undefined
  /**
   * Resolves with the running process, or a new one, once it is open. Rejects with the error of `open`, with `lost`, and with
   * `unavailable` once closed or while the crash budget is spent. An abort ends the wait; the process continues.
   */
  start(signal?: AbortSignal): Promise<Child<M>>
  /** Ends the process and frees its memory; the next `start` launches another. */
  stop(): Promise<void>
  /** Ends the process for good. */
  close(): Promise<void>
}

interface Running<M extends OpenedMethods<M>> {
  readonly child: Child<M>
  readonly ready: Promise<unknown>
  /** Whether this side asked it to end. */
  isStopped: boolean
}

/** Prepares a child with an empty environment by default; errors of its methods become AppErrors. */
export function createRevivedChild<M extends OpenedMethods<M>>(options: RevivedChildOptions<M>): RevivedChild<M> {
  const { name, crashBudget, openMs = 120_000, graceMs = 1000 } = options
  let running: Running<M> | undefined
  let opened: Result<M, 'open'> | undefined
  let closed = false
  /** Crashes since the last item. */
  let losses = 0
  let lostAt = 0

  return {
    get pid() {
      return running?.child.pid
    },
    get opened() {
      return opened
    },
    async start(signal) {
      signal?.throwIfAborted()
      if (closed) throw new AppError('unavailable', `${name} is closed`)
      if (!running) requireBudget()
      running ??= launch()
      const { child, ready } = running
      await unlessAborted(ready, signal)
      return child
    },
    stop,
    close() {
      closed = true
      return stop()
    },
  }

  function requireBudget(): void {
    if (!crashBudget || losses < crashBudget.losses || performance.now() >= lostAt + crashBudget.restMs) return
    const retryAfter = Math.ceil(crashBudget.restMs / 1000)
    throw new AppError('unavailable', `${name} keeps ending`, {
      details: [`it is started again in ${retryAfter} s`],
      retryAfter,
    })
  }

  function launch(): Running<M> {
    const child = spawnChild<M>({
      lost: (reason) => new AppError('unavailable', `${name} ended unexpectedly`, { cause: new Error(reason) }),
      failed: toAppError,
      ...options,
      graceMs,
      stderr: 'pipe',
      onItem() {
        losses = 0
      },
      onEnd(reason, killed) {
        forget()
        lostAt = performance.now()
        if (launched.isStopped) return
        // A process that was killed had its time, or has given the reason why it does not open.
        if (!killed) losses++
        options.onLoss?.(reason)
      },
    })
    const timer = setTimeout(child.kill, openMs)
    const ready = child.request('open', options.open).then(
      (result) => {
        clearTimeout(timer)
        opened = result
      },
      (reason: unknown) => {
        clearTimeout(timer)
        // A process that could not open is of no use to the next caller.
        forget()
        child.kill()
        throw reason
      },
    )
    // Each caller of `start` receives the error.
    ready.catch(() => {})
    const launched: Running<M> = { child, ready, isStopped: false }
    const forget = () => {
      if (running === launched) running = undefined
    }
    return launched
  }

  async function stop(): Promise<void> {
    const stopped = running
    if (!stopped) return
    stopped.isStopped = true
    running = undefined
    await stopped.child.close()
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
