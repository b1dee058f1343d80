import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorOf, type FromChild, type Input, type Item, type Methods, type Result, type ToChild } from './frames.ts'

/** A child's module as its importer names it: `import.meta.url` and `./name` without the extension. */
export interface ChildModule {
  readonly beside: string
  readonly name: string
}

export interface ChildOptions {
  /** Calls `serveParent` or `serveTask`. */
  readonly module: ChildModule
  /** The whole environment of the process; empty by default, so that no secret reaches native code. */
  readonly environment?: Readonly<Record<string, string>> | 'inherited'
  /** `pipe` keeps the end of stderr for the reason of a loss. `ignore` (default) holds no handle open. */
  readonly stderr?: 'pipe' | 'ignore'
  /** Milliseconds that a cancelled call, or a child that is closed, may go on before it is killed. */
  readonly graceMs: number
  /** The error of the calls in flight when the process ends: by itself, killed, or for a frame that breaks the protocol. */
  lost(reason: string): Error
  /** Maps an error that a method threw; unchanged by default. */
  failed?(reason: Error): Error
  onItem?(): void
  /** Called once; `killed` when this side killed it for its slowness or because it was asked to. */
  onEnd?(reason: string, killed: boolean): void
}

/** One process, from its start to its end. */
export interface Child<M extends Methods<M>> {
  readonly pid: number | undefined
  /** Calls a method and resolves with its result; items are dropped. */
  request<K extends keyof M & string>(method: K, input: Input<M, K>, signal?: AbortSignal): Promise<Result<M, K>>
  /**
   * Calls a method and yields its items; those not taken yet wait in memory. Ends only when the child has finished the call
   * or is dead: leaving early and aborting cancel the call, and after `graceMs` the child is killed. Throws the signal's
   * reason, the method's error, or `lost`.
   */
  stream<K extends keyof M & string>(
    method: K,
    input: Input<M, K>,
    signal?: AbortSignal,
  ): AsyncGenerator<Item<M, K>, Result<M, K>, undefined>
  kill(): void
  /** Hangs up and waits for the end; the child aborts its calls, and is killed after `graceMs`. */
  close(): Promise<void>
}

/** How a call ended. */
type End = { readonly result: unknown } | { readonly error: Error }

interface PendingCall {
  item(item: unknown): void
  end(end: End): void
}

/** Characters of stderr that are kept for the reason of a loss. */
const keptStderr = 500

/** Starts a process and speaks the protocol of frames.ts with it. */
export function spawnChild<M extends Methods<M>>(options: ChildOptions): Child<M> {
  const child = spawnModule(options)
  const calls = new Map<number, PendingCall>()
  let count = 0
  let stderr = ''
  let isOver = false
  let brokeProtocol = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-keptStderr)
  })
  child.on('message', (frame: FromChild | null) => {
    const call = frame ? calls.get(frame.call) : undefined
    if (call && frame?.type === 'item') {
      options.onItem?.()
      call.item(frame.item)
    } else if (call && frame?.type === 'result') call.end({ result: frame.result })
    else if (call && frame?.type === 'failed')
      call.end({ error: options.failed?.(errorOf(frame.failure)) ?? errorOf(frame.failure) })
    else {
      brokeProtocol = true
      kill()
    }
  })
  const ended = new Promise<void>((resolve) => {
    const end = (how: string) => {
      if (isOver) return
      isOver = true
      const reason = [brokeProtocol ? 'invalid frame' : how, stderr.trim()].filter(Boolean).join(': ')
      options.onEnd?.(reason, child.killed && !brokeProtocol)
      for (const call of calls.values()) call.end({ error: options.lost(reason) })
      resolve()
    }
    child.on('error', (error) => end(error.message))
    child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  })

  return {
    pid: child.pid,
    async request(method, input, signal) {
      const items = stream(method, input, signal)
      for (;;) {
        const next = await items.next()
        if (next.done) return next.value
      }
    },
    stream,
    kill,
    async close() {
      if (isOver) return
      const timer = setTimeout(kill, options.graceMs)
      if (child.connected) child.disconnect()
      await ended
      clearTimeout(timer)
    },
  }

  async function* stream<K extends keyof M & string>(
    method: K,
    input: Input<M, K>,
    signal?: AbortSignal,
  ): AsyncGenerator<Item<M, K>, Result<M, K>, undefined> {
    signal?.throwIfAborted()
    const call = ++count
    const items: unknown[] = []
    let end: End | undefined
    let timer: NodeJS.Timeout | undefined
    let wake = () => {}
    const news = () =>
      new Promise<void>((resolve) => {
        wake = resolve
      })
    const cancel = () => {
      if (end || timer) return
      send({ type: 'cancel', call })
      // Native code that hangs reads no frames.
      timer = setTimeout(kill, options.graceMs)
    }
    calls.set(call, {
      item(item) {
        items.push(item)
        wake()
      },
      end(how) {
        end ??= how
        wake()
      },
    })
    if (isOver || !child.connected) end = { error: options.lost('its process has ended') }
    send({ type: 'request', call, method, input })
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      for (;;) {
        for (; items.length > 0 && !signal?.aborted; ) yield items.shift() as Item<M, K>
        signal?.throwIfAborted()
        if (end) break
        await news()
      }
      if ('error' in end) throw end.error
      return end.result as Result<M, K>
    } finally {
      signal?.removeEventListener('abort', cancel)
      cancel()
      while (!end) await news()
      clearTimeout(timer)
      calls.delete(call)
    }
  }

  function send(frame: ToChild): void {
    // The exit of a process that has just died ends its calls.
    if (child.connected) child.send(frame, undefined, {}, () => {})
  }

  function kill(): void {
    child.kill('SIGKILL')
  }
}

function spawnModule({ module: { beside, name }, environment = {}, stderr = 'ignore' }: ChildOptions) {
  const isSource = beside.endsWith('.ts')
  // From the sources the child needs the loader that its parent has.
  const loader = isSource ? ['--import', import.meta.resolve('tsx')] : []
  const entry = fileURLToPath(new URL(`${name}.${isSource ? 'ts' : 'js'}`, beside))
  return spawn(process.execPath, [...loader, entry], {
    ...(environment !== 'inherited' && { env: { ...environment } }),
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    serialization: 'advanced',
    windowsHide: true,
  })
}
