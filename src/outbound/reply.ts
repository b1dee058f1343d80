import { performance } from 'node:perf_hooks'
import type { Dispatcher } from 'undici'
import { deadlineReached, type OutboundReply } from '../chat/provider.ts'

/**
 * One exchange as undici's dispatcher tells it, without the streams and signals of its `request`: a chat gateway spends
 * more on those than on the bytes.
 */

/** Bytes of a body that wait for their reader before the sender is asked to pause. */
const highWater = 256 * 1024

/** What is left of a body after its last event is read up to this many bytes, to keep the connection. */
const leftOver = 16 * 1024

/** Requests in flight that have a deadline, looked at a few times a second instead of with a timer each. */
const pending = new Map<(reason: Error) => void, number>()
let sweep: NodeJS.Timeout | undefined
const sweepMs = 100

/**
 * Starts an exchange; resolves with the reply when its headers are there.
 * `endsAt` is in milliseconds on the monotonic clock; when it passes, or the signal is aborted, the exchange ends.
 */
export function openReply(
  signal: AbortSignal | undefined,
  endsAt: number | undefined,
  start: (handler: Dispatcher.DispatchHandler) => void,
): Promise<OutboundReply> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return void reject(signal.reason)
    const body = createBody()
    let stop: ((reason: Error) => void) | undefined
    let over = false
    const abort = () => fail(signal!.reason instanceof Error ? signal!.reason : new Error('aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    if (endsAt !== undefined && Number.isFinite(endsAt)) {
      pending.set(fail, endsAt)
      sweep ??= setInterval(endLate, sweepMs).unref()
    }
    start({
      onRequestStart(controller) {
        stop = (reason) => controller.abort(reason)
        if (over) controller.abort(new Error('aborted'))
      },
      onResponseStart(controller, status, headers) {
        // 1xx answers are announcements; the answer itself follows.
        if (status < 200) return
        body.connect(() => controller.resume())
        resolve({
          status,
          headers,
          body: body.pieces(finish),
          text: (limit) => body.text(limit, Number(headers['content-length'] ?? 0), finish),
          discard: () => body.discard(finish),
        })
      },
      onResponseData(controller, chunk) {
        if (body.push(chunk) > highWater) controller.pause()
      },
      onResponseEnd() {
        release()
        body.end()
      },
      onResponseError(_controller, error) {
        release()
        reject(error)
        body.fail(error)
      },
    })

    function release(): void {
      over = true
      signal?.removeEventListener('abort', abort)
      pending.delete(fail)
      if (pending.size === 0) {
        clearInterval(sweep)
        sweep = undefined
      }
    }

    function fail(reason: Error): void {
      if (over) return
      release()
      reject(reason)
      body.fail(reason)
      stop?.(reason)
    }

    /** The reader wants no more. */
    function finish(): void {
      if (!over) fail(new Error('no longer wanted'))
    }
  })
}

function endLate(): void {
  const now = performance.now()
  for (const [fail, endsAt] of pending) if (endsAt <= now) fail(deadlineReached)
}

interface Body {
  connect(resume: () => void): void
  /** Returns the bytes that wait. */
  push(chunk: Buffer): number
  end(): void
  fail(reason: unknown): void
  pieces(finish: () => void): AsyncIterable<Uint8Array>
  text(limit: number, announced: number, finish: () => void): Promise<string>
  discard(finish: () => void): void
}

/** A queue between the socket that pushes and the one reader that pulls. */
function createBody(): Body {
  let queue: Buffer[] = []
  let size = 0
  let ended = false
  let failure: { readonly reason: unknown } | undefined
  let wake: (() => void) | undefined
  let resume = () => {}
  let drop: (() => void) | undefined
  let dropped = 0

  return {
    connect(go) {
      resume = go
    },
    push(chunk) {
      if (drop) {
        dropped += chunk.length
        if (dropped > leftOver) drop()
        return 0
      }
      queue.push(chunk)
      size += chunk.length
      wake?.()
      return size
    },
    end() {
      ended = true
      wake?.()
    },
    fail(reason) {
      failure ??= { reason }
      wake?.()
    },
    async *pieces(finish) {
      try {
        for (;;) {
          if (queue.length === 0 && !(await more())) return
          const next = queue
          take()
          for (const chunk of next) yield chunk
        }
      } finally {
        if (!ended && !drop) finish()
      }
    },
    async text(limit, announced, finish) {
      let seen = announced
      const chunks: Buffer[] = []
      let length = 0
      while (seen <= limit && (queue.length > 0 || (await more()))) {
        chunks.push(...queue)
        length += size
        seen = Math.max(seen, length)
        take()
      }
      if (seen > limit) {
        finish()
        throw new Error(`the answer is longer than ${Math.ceil(limit / 1024)} KiB`)
      }
      return chunks.length === 1 ? chunks[0]!.toString('utf8') : Buffer.concat(chunks).toString('utf8')
    },
    discard(finish) {
      if (ended || failure) return
      // A short rest comes and ends by itself; a long one is cut.
      drop = finish
      resume()
    },
  }

  function take(): void {
    const paused = size > highWater
    queue = []
    size = 0
    if (paused) resume()
  }

  /** Waits for bytes; false at the end. Throws what broke the exchange. */
  async function more(): Promise<boolean> {
    while (queue.length === 0) {
      if (failure) throw failure.reason
      if (ended) return false
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = undefined
    }
    return true
  }
}
