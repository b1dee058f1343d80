import { isAscii, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { createJsonMeter, joinInTurns, parseInTurns, parseMetered, requestBounds } from '../formats/formats.ts'
import { heavyTurn } from '../process/process.ts'
import { whenTooSlow } from './body-watch.ts'
import { jsonType, requireType } from './media-type.ts'
import { chargeBody, userOf } from './request-holder.ts'

/** The longest body of an operation without a `limit`: bytes. */
export const defaultLimit = 1024 * 1024

/**
 * Passes the bytes of a body to `take` as they arrive, and resolves with the result of `end`. Throws `too_large` above `limit`, before the rest is read,
 * `unsupported_media` at the first byte of another media type than `types`, `too_slow` on a timeout, `rate_limited` above the
 * limit of bytes in flight, and the errors of `take`.
 */
function readPieces<Read>(
  request: IncomingMessage,
  types: readonly string[],
  limit: number,
  take: (piece: Buffer) => void,
  end: () => Read | Promise<Read>,
): Promise<Read> {
  return new Promise((resolve, reject) => {
    const contentLength = Number(request.headers['content-length'] ?? 0)
    if (contentLength > 0) requireType(request, types)
    if (contentLength > limit) throw tooLarge(limit)
    if (contentLength > 0) chargeBody(request, contentLength)
    let size = 0
    const onData = (piece: Buffer) => {
      try {
        if (size === 0) requireType(request, types)
        size += piece.length
        if (size > limit) throw tooLarge(limit)
        if (contentLength === 0) chargeBody(request, piece.length)
        take(piece)
      } catch (reason) {
        stop(reason)
      }
    }
    // The rest of a refused body is read and dropped: its end makes nothing of the part that was taken.
    const stop = (reason: unknown) => {
      forget()
      request.off('data', onData)
      request.off('end', onEnd)
      request.pause()
      reject(reason)
    }
    const onEnd = () => {
      forget()
      try {
        resolve(end())
      } catch (reason) {
        reject(reason)
      }
    }
    const forget = whenTooSlow(request, stop)
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', stop)
    request.on('close', () => {
      if (!request.complete) stop(new AppError('invalid', 'The body ended too early'))
    })
  })
}

/** Reads a body of one of these media types. Throws as `readPieces`. */
export function readBytes(request: IncomingMessage, types: readonly string[], limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  const take = (piece: Buffer) => void pieces.push(piece)
  return readPieces(request, types, limit, take, () => (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)))
}

/**
 * Reads the body as JSON; undefined for an empty one. Decodes and meters every byte on arrival, so that a hostile body takes
 * no longer to refuse than to send. Throws `unsupported_media` unless its type is JSON (or another of `types`) in UTF-8, `invalid` for invalid JSON,
 * `too_large` above the limit or the bounds of a request.
 */
export function readJson(
  request: IncomingMessage,
  limit: number,
  types: readonly string[] = [jsonType],
): Promise<unknown> {
  const meter = createJsonMeter('the body', requestBounds)
  const encoding = createUtf8Meter()
  const pieces: Buffer[] = []
  let size = 0
  const take = (piece: Buffer) => {
    size += piece.length
    meter.push(piece)
    encoding.push(piece)
    pieces.push(piece)
  }
  return readPieces(request, types, limit, take, () => {
    const { isAscii } = encoding.end()
    if (size === 0) return undefined
    if (size > heavyBody) return parseHeavy(request, pieces, size, meter)
    // Bytes stay outside V8's heap until here: as strings, the pieces of a large body would be copied by its garbage collector.
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    return parseMetered(bytes.toString(isAscii ? 'latin1' : 'utf8'))
  })
}

/** Joins, parses and validates a large body in turns of the event loop, none after a disconnect. */
async function parseHeavy(
  request: IncomingMessage,
  pieces: Buffer[],
  size: number,
  meter: ReturnType<typeof createJsonMeter>,
): Promise<unknown> {
  const work = { user: userOf(request), isOver: () => request.socket.destroyed }
  const bytes = await joinInTurns(pieces.splice(0), size, work)
  const value = await parseInTurns(bytes, meter.longTexts(), 'the body', work)
  await heavyTurn(work)
  return value
}

/** From this size on a body takes milliseconds to parse: bytes. */
const heavyBody = 256 * 1024

/** Streams the bytes of an upload, with backpressure; throws as `readPieces`, except `rate_limited`. */
export async function* readStream(
  request: IncomingMessage,
  types: readonly string[],
  limit: number,
): AsyncGenerator<Uint8Array> {
  let fail: (reason: AppError) => void = () => {}
  const slow = new Promise<never>((_, reject) => {
    fail = reject
  })
  slow.catch(() => {})
  const forget = whenTooSlow(request, fail)
  // Returning early keeps the connection open for the answer.
  const pieces = request.iterator({ destroyOnReturn: false })
  let size = 0
  try {
    for (;;) {
      const { done, value } = (await Promise.race([pieces.next(), slow])) as IteratorResult<Buffer, undefined>
      if (done) return
      if (size === 0) requireType(request, types)
      size += value.length
      if (size > limit) throw tooLarge(limit)
      yield value
    }
  } finally {
    forget()
    // A pending read ends with the connection.
    pieces.return?.().catch(() => {})
  }
}

/** The most that multi-byte characters may add to the bytes of a body: 4 Mi such characters of two bytes, or 2 Mi of three. */
const mostBeyondAscii = 4 * 1024 * 1024

/**
 * Verifies UTF-8 in pieces that may end within a character. Throws `invalid` for anything else, and `too_large` for more
 * text beyond ASCII than any model reads: every later step takes several times as long for it.
 */
function createUtf8Meter(): { push(bytes: Buffer): void; end(): { readonly isAscii: boolean } } {
  let rest: Buffer = Buffer.alloc(0)
  let beyondAscii = 0
  let onlyAscii = true
  return {
    push(piece) {
      if (rest.length === 0 && isAscii(piece)) return
      onlyAscii = false
      const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
      const whole = bytes.length - unfinished(bytes)
      rest = bytes.subarray(whole)
      const ready = rest.length > 0 ? bytes.subarray(0, whole) : bytes
      if (!isUtf8(ready)) throw notUtf8()
      beyondAscii += ready.length - ready.toString('utf8').length
      if (beyondAscii > mostBeyondAscii)
        throw new AppError('too_large', `The body holds more than ${mostBeyondAscii} bytes of text beyond ASCII`)
    },
    end() {
      if (rest.length > 0) throw notUtf8()
      return { isAscii: onlyAscii }
    },
  }
}

function notUtf8(): AppError {
  return new AppError('invalid', 'The body is not text in UTF-8')
}

/** How many bytes at the end begin a character that is not whole yet: at most 3 (RFC 3629). */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > back ? back : 0
  }
  return 0
}

function tooLarge(limit: number): AppError {
  const size = limit >= 1024 * 1024 ? `${Math.round(limit / 1024 / 1024)} MiB` : `${Math.round(limit / 1024)} KiB`
  return new AppError('too_large', `The body is larger than ${size}`)
}
