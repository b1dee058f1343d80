import { performance } from 'node:perf_hooks'
import type { Dispatcher } from 'undici'
import {
  connectionSentence,
  deadlineReached,
  type HttpRequest,
  type HttpResponse,
  type Timeouts,
} from '../http/http.ts'
import { Bag, type Kept } from '../process/process.ts'
import { decompressed, tooLong } from './decompress.ts'

/** Bytes of a body that wait for their reader before the sender is asked to pause. */
const highWater = 256 * 1024

/** The rest of a body after its last event is drained up to this many bytes, to keep the connection. */
const leftOver = 16 * 1024

/** Exchanges in flight, whose time is looked at a few times a second: timers for each took 2 % of a chat's time. */
const timed = new Bag<OutboundExchange>()
let sweep: NodeJS.Timeout | undefined
let sweptAt = 0
const sweepMs = 100

/** The exchanges under way that a signal ends. */
const ended = new WeakMap<AbortSignal, Bag<OutboundExchange>>()

/** The bag of a signal, with the one listener here: one for each chat would cost more than its bookkeeping. */
function endedBy(signal: AbortSignal): Bag<OutboundExchange> {
  const known = ended.get(signal)
  if (known) return known
  const exchanges = new Bag<OutboundExchange>()
  ended.set(signal, exchanges)
  signal.addEventListener(
    'abort',
    () => {
      const { reason } = signal
      for (const exchange of exchanges.items()) exchange.fail(reason instanceof Error ? reason : new Error('aborted'))
    },
    { once: true },
  )
  return exchanges
}

/**
 * Sends a request; resolves with the reply when its headers are there.
 * `endsAt` is in milliseconds on the monotonic clock; when it passes, or the signal is aborted, or one of the `timeouts`
 * expires, the exchange ends, up to `sweepMs` later.
 */
export function openResponse(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, endsAt, timeouts }: Pick<HttpRequest, 'signal' | 'endsAt'> & { readonly timeouts: Silences },
): Promise<HttpResponse> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  const exchange = new OutboundExchange(signal, endsAt, timeouts)
  dispatcher.dispatch(request, exchange)
  return exchange.begun
}

/** The longest silences of the other side, in milliseconds; Infinity for none. */
export type Silences = Pick<Timeouts, 'firstByte' | 'idle'>

/**
 * One exchange as undici's dispatcher reports it, without the streams and signals of its `request`: a chat gateway spends
 * more on those than on the bytes. It is also the reply, a queue between the socket that pushes and the one reader that
 * pulls: a single object, since a closure for each action had the garbage collector copy 5 KB of every chat.
 */
class OutboundExchange implements HttpResponse, AsyncIterableIterator<Uint8Array> {
  readonly begun: Promise<HttpResponse>
  readonly endsAt: number
  status = 0
  headers: HttpResponse['headers'] = {}
  readonly #others: Bag<OutboundExchange> | undefined
  readonly #signalled: Kept<OutboundExchange> | undefined
  #resolve!: (reply: HttpResponse) => void
  #reject!: (reason: unknown) => void
  /** The connection's side, while there is something to say to it. */
  #controller: Dispatcher.DispatchController | undefined
  /** Nothing more will come. */
  #over = false
  #failure: { readonly reason: unknown } | undefined
  #queue: Buffer[] = []
  #size = 0
  readonly #timed: Kept<OutboundExchange>
  readonly #silences: Silences
  /** When the other side was heard last, or was sent the request: milliseconds on the monotonic clock. */
  #heardAt = Number.POSITIVE_INFINITY
  #wake: (() => void) | undefined
  /** The pieces that were taken from the queue for the reader of the body, and how many of them it has. */
  #taken: readonly Buffer[] = []
  #given = 0
  #isLeft = false
  #dropping = false
  #dropped = 0

  constructor(signal: AbortSignal | undefined, endsAt = Number.POSITIVE_INFINITY, silences: Silences) {
    this.endsAt = endsAt
    this.#silences = silences
    this.begun = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#others = signal && endedBy(signal)
    this.#signalled = this.#others?.add(this)
    this.#timed = timed.add(this)
    if (sweep) return
    sweptAt = performance.now()
    sweep = setInterval(endLate, sweepMs).unref()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) return controller.abort(new Error('aborted'))
    this.#controller = controller
    this.#heardAt = performance.now()
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpResponse['headers']): void {
    this.#heardAt = performance.now()
    // 1xx answers are announcements; the answer itself follows.
    if (status < 200) return
    this.status = status
    this.headers = headers
    this.#resolve(decompressed(this))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#heardAt = performance.now()
    if (this.#dropping) {
      this.#dropped += chunk.length
      if (this.#dropped > leftOver) this.#finish()
      return
    }
    this.#queue.push(chunk)
    this.#size += chunk.length
    this.#wake?.()
    if (this.#size > highWater) controller.pause()
  }

  onResponseEnd(): void {
    this.#release()
    this.#wake?.()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#release()
    this.#break(explained(error))
  }

  /** Ends the exchange and its connection, unless it is over. */
  fail(reason: Error): void {
    if (this.#over) return
    const controller = this.#controller
    this.#release()
    this.#break(reason)
    controller?.abort(reason)
  }

  /** Ends the exchange where its time is over. The event loop was blocked for `lateMs`, in which nothing could be heard. */
  endIfLate(now: number, lateMs: number): void {
    if (this.endsAt <= now) return this.fail(deadlineReached)
    // A sender that was asked to pause is silent for our sake.
    this.#heardAt = this.#size > highWater ? now : this.#heardAt + lateMs
    const silence = now - this.#heardAt
    if (this.status === 0 ? silence > this.#silences.firstByte : silence > this.#silences.idle)
      this.fail(this.status === 0 ? silent('HEADERS') : silent('BODY'))
  }

  /** The exchange itself: the body is read once. */
  get body(): AsyncIterable<Uint8Array> {
    return this
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isLeft) return { done: true, value: undefined }
    if (this.#given === this.#taken.length) {
      while (this.#queue.length === 0) {
        if (!this.#mayGoOn()) return { done: true, value: undefined }
        await this.#arrival()
      }
      this.#taken = this.#take()
      this.#given = 0
    }
    return { done: false, value: this.#taken[this.#given++]! }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#isLeft = true
    if (!this.#over && !this.#dropping) this.#finish()
    return { done: true, value: undefined }
  }

  async text(limit: number): Promise<string> {
    let seen = Number(this.headers['content-length'] ?? 0)
    let length = 0
    const chunks: Buffer[] = []
    // The whole of a short answer is often there by now: then nothing is waited for.
    while (seen <= limit && (this.#queue.length > 0 || (this.#mayGoOn() && (await this.#more())))) {
      length += this.#size
      seen = Math.max(seen, length)
      chunks.push(...this.#take())
    }
    if (seen > limit) {
      this.#finish()
      throw tooLong(limit)
    }
    return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')
  }

  discard(): void {
    if (this.#over) return
    // A short rest comes and ends by itself; a long one is cut.
    this.#dropping = true
    this.#controller?.resume()
  }

  /** Waits for bytes; false at the end. Throws the error that broke the exchange. */
  async #more(): Promise<boolean> {
    while (this.#queue.length === 0) {
      if (!this.#mayGoOn()) return false
      await this.#arrival()
    }
    return true
  }

  /** Whether more bytes may come. Throws the error that broke the exchange. */
  #mayGoOn(): boolean {
    if (this.#failure) throw this.#failure.reason
    return !this.#over
  }

  /** Resolves when bytes, the end or a failure have come. */
  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(): readonly Buffer[] {
    const queue = this.#queue
    const paused = this.#size > highWater
    this.#queue = []
    this.#size = 0
    if (paused) this.#controller?.resume()
    return queue
  }

  /** The reader wants no more. */
  #finish(): void {
    this.fail(new Error('no longer wanted'))
  }

  #break(reason: unknown): void {
    this.#failure ??= { reason }
    this.#reject(reason)
    this.#wake?.()
  }

  #release(): void {
    this.#over = true
    this.#controller = undefined
    if (this.#signalled) this.#others!.remove(this.#signalled)
    timed.remove(this.#timed)
  }
}

/** A connection that was not made, in words that a user can act on; other failures as they are. */
function explained(error: NodeJS.ErrnoException): Error {
  const words = connectionSentence(error)
  return words === undefined ? error : Object.assign(new Error(words, { cause: error }), { code: error.code })
}

/** A silence for too long, with the code that undici has for it. */
function silent(part: 'HEADERS' | 'BODY'): Error {
  const words = part === 'HEADERS' ? 'did not begin to answer in time' : 'stopped in the middle of its answer'
  return Object.assign(new Error(words), { code: `UND_ERR_${part}_TIMEOUT` })
}

function endLate(): void {
  const now = performance.now()
  const lateMs = Math.max(0, now - sweptAt - 2 * sweepMs)
  sweptAt = now
  for (const exchange of timed.items()) exchange.endIfLate(now, lateMs)
  if (timed.size > 0) return
  clearInterval(sweep)
  sweep = undefined
}
