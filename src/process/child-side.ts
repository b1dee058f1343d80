import {
  type FromChild,
  failureOf,
  type Input,
  type Item,
  type Methods,
  type Result,
  type TaskMethods,
  type ToChild,
} from './frames.ts'

/** The call under way, as its handler sees it. */
export interface Call<I> {
  /** Aborted when the parent cancels the call or is gone. */
  readonly signal: AbortSignal
  /** Sends an item; resolves when the channel has taken it, so that a handler that awaits it feels backpressure. */
  emit(item: I): Promise<void>
}

export type Handlers<M extends Methods<M>> = {
  readonly [K in keyof M]: (input: Input<M, K>, call: Call<Item<M, K>>) => Result<M, K> | Promise<Result<M, K>>
}

/**
 * Answers the parent's requests, one after the other in their order; cancels are heard meanwhile. SIGINT and SIGTERM are
 * ignored: a Ctrl-C in the terminal reaches this process too, and the parent decides when it ends.
 * @param close called once the parent is gone or has hung up; calls are then aborted, and the process ends when nothing is
 * left to do. Without it the process kills itself at that moment.
 */
export function serveParent<M extends Methods<M>>(handlers: Handlers<M>, close?: () => void | Promise<void>): void {
  // The parent has gone while this process was starting.
  if (!process.connected) return
  const calls = new Map<number, AbortController>()
  let last = Promise.resolve()
  process.on('message', (frame: ToChild) => {
    if (frame.type === 'cancel') return calls.get(frame.call)?.abort()
    const controller = new AbortController()
    calls.set(frame.call, controller)
    last = last.then(async () => {
      await answer(handlers, frame, controller.signal)
      calls.delete(frame.call)
    })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.once('disconnect', () => {
    if (!close) return process.kill(process.pid, 'SIGKILL')
    for (const call of calls.values()) call.abort()
    return void close()
  })
}

/** Does the one task that this process is sent by `runInChild` or `runOnce`. */
export function serveTask<T, R>(perform: (task: T) => R | Promise<R>): void {
  serveParent<TaskMethods>({ perform: (task) => perform(task as T) })
}

async function answer<M extends Methods<M>>(
  handlers: Handlers<M>,
  { call, method, input }: Extract<ToChild, { type: 'request' }>,
  signal: AbortSignal,
): Promise<void> {
  try {
    signal.throwIfAborted()
    if (!Object.hasOwn(handlers, method)) throw new Error(`method not found: ${method}`)
    const emit = (item: unknown) => send({ type: 'item', call, item })
    const result: unknown = await handlers[method as keyof M](input as never, { signal, emit })
    await send({ type: 'result', call, result })
  } catch (reason) {
    await send({ type: 'failed', call, failure: failureOf(reason) })
  }
}

/** Resolves when the channel has taken the frame, and at once when the parent is gone; rejects for data that cannot be cloned. */
async function send(frame: FromChild): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!process.connected) return resolve()
    // A parent that has just gone is not an error of this process.
    process.send?.(frame, undefined, {}, () => resolve())
  })
}
