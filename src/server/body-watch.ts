import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'

/** How long a request's body may take. */
export interface BodyPatience {
  /** Milliseconds without a byte. */
  readonly idleMs: number
  /** Milliseconds from the end of the headers to the end of the body, of a request that is no upload. */
  readonly totalMs: number
}

/**
 * Half a minute is what a mobile line may be silent; the whole of an ordinary request has a minute, of which its headers
 * may take 10 s (listen.ts).
 */
export const usualPatience: BodyPatience = { idleMs: 30_000, totalMs: 50_000 }

interface Watched {
  readonly request: IncomingMessage
  /** An upload goes on as long as bytes come. */
  readonly isUpload: boolean
  since: number
  bytes: number
  changedAt: number
  /** When its reader was told. */
  failedAt: number | undefined
}

const readers = new WeakMap<IncomingMessage, (reason: AppError) => void>()

/** Has `fail` called when the request's body comes too slowly; returns how to stop that. */
export function whenTooSlow(request: IncomingMessage, fail: (reason: AppError) => void): () => void {
  readers.set(request, fail)
  return () => void readers.delete(request)
}

/**
 * Watches requests whose bodies have not come yet, all with one timer. One that takes too long fails its reader, which can
 * still answer; where nothing reads it, its connection ends.
 */
export function createBodyWatch({
  idleMs,
  totalMs,
}: BodyPatience): (request: IncomingMessage, upload: boolean) => void {
  const watched = new Set<Watched>()
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
    watched.add(entry)
    const done = () => {
      watched.delete(entry)
      if (watched.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
    request.once('end', done).once('close', done)
    timer ??= setInterval(sweep, everyMs).unref()
  }

  function sweep(): void {
    const now = performance.now()
    // While the event loop stood still nothing could be read: that time is nobody's delay.
    const late = Math.max(0, now - sweptAt - 2 * everyMs)
    sweptAt = now
    for (const entry of watched) {
      entry.since += late
      entry.changedAt += late
      const { bytesRead } = entry.request.socket
      if (bytesRead !== entry.bytes) {
        entry.bytes = bytesRead
        entry.changedAt = now
      }
      const isLate = !entry.isUpload && now - entry.since > totalMs
      if (entry.request.complete || (now - entry.changedAt <= idleMs && !isLate)) continue
      const fail = readers.get(entry.request)
      if (fail && entry.failedAt === undefined) {
        entry.failedAt = now
        fail(new AppError('too_slow', 'The body did not come in time'))
      } else if (now - (entry.failedAt ?? entry.since) > totalMs) entry.request.socket.destroy()
    }
  }
}

/** A request without these two has no body (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
