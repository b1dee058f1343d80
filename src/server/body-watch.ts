import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { Bag } from '../process/process.ts'

export interface BodyTimeouts {
  /** Milliseconds without a byte. */
  readonly idleMs: number
  /** Milliseconds from the end of the headers to the end of the body; not for uploads. */
  readonly totalMs: number
}

/** Mobile connections may be silent for 30 s; a request takes a minute in all, its headers 10 s (listen.ts). */
export const usualBodyTimeouts: BodyTimeouts = { idleMs: 30_000, totalMs: 50_000 }

interface Watched {
  readonly request: IncomingMessage
  /** An upload has no total timeout. */
  readonly isUpload: boolean
  since: number
  bytes: number
  changedAt: number
  /** When its reader was notified. */
  failedAt: number | undefined
}

/** A property of the request, as in request-holder.ts. */
const reader = Symbol('reader of the body')

interface Read extends IncomingMessage {
  [reader]?: ((reason: AppError) => void) | undefined
}

/** Calls `fail` when a timeout of the request's body expires, unless the returned function has been called. */
export function whenTooSlow(request: IncomingMessage, fail: (reason: AppError) => void): () => void {
  const read = request as Read
  read[reader] = fail
  return () => {
    read[reader] = undefined
  }
}

/** Watches request bodies with one timer. A timeout fails the reader, or without one closes the connection. */
export function createBodyWatch({
  idleMs,
  totalMs,
}: BodyTimeouts): (request: IncomingMessage, upload: boolean) => void {
  const watched = new Bag<Watched>()
  const everyMs = Math.min(1000, idleMs / 4)
  let timer: NodeJS.Timeout | undefined
  let sweptAt = 0

  return (request, isUpload) => {
    if (!hasBody(request)) return
    const now = performance.now()
    if (watched.size === 0) sweptAt = now
    const entry = {
      request,
      isUpload,
      since: now,
      bytes: request.socket.bytesRead,
      changedAt: now,
      failedAt: undefined,
    }
    const kept = watched.add(entry)
    // A request closes as soon as its body has ended.
    request.on('close', () => watched.remove(kept))
    timer ??= setInterval(sweep, everyMs).unref()
  }

  /** Ends with the first round that finds nothing to watch: most bodies are there at once, and a timer for each costs 2 µs. */
  function sweep(): void {
    if (watched.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const now = performance.now()
    // Time in which the event loop was blocked does not count: nothing could be read.
    const late = Math.max(0, now - sweptAt - 2 * everyMs)
    sweptAt = now
    for (const entry of watched.items()) {
      entry.since += late
      entry.changedAt += late
      const { bytesRead } = entry.request.socket
      if (bytesRead !== entry.bytes) {
        entry.bytes = bytesRead
        entry.changedAt = now
      }
      const isLate = !entry.isUpload && now - entry.since > totalMs
      if (entry.request.complete || (now - entry.changedAt <= idleMs && !isLate)) continue
      const fail = (entry.request as Read)[reader]
      if (fail && entry.failedAt === undefined) {
        entry.failedAt = now
        fail(new AppError('too_slow', 'The body was not received in time'))
      } else if (now - (entry.failedAt ?? entry.since) > totalMs) entry.request.socket.destroy()
    }
  }
}

/** A request without these two has no body (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
