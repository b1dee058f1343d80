import { isAscii } from 'node:buffer'
import { createParser } from 'eventsource-parser'
import { DialectError } from './dialect.ts'

/** The longest line, in bytes, and the longest event, in characters: 1 MiB. A provider that sends more is broken or hostile. */
export const lineLimit = 1_048_576

/** One event of a stream: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
export interface ServerEvent {
  /** The name; "" where the event has none. */
  readonly event: string
  /** The data lines, joined by line feeds. */
  readonly data: string
}

export interface LineReader {
  /** The whole lines that these bytes complete, without their ends. Throws a DialectError for a line over the limit. */
  push(bytes: Uint8Array): string[]
  /** The text after the last line end, or nothing. */
  end(): string[]
}

export interface EventReader {
  /** The events that these bytes complete. Throws a DialectError for a line or an event over the limit. */
  push(bytes: Uint8Array): ServerEvent[]
  /** The event that the body ended in: a provider may leave out the last blank line. */
  end(): ServerEvent[]
}

const lineFeed = 10
const carriageReturn = 13
const byteOrderMark = '\uFEFF'

/**
 * Cuts bytes into lines at each LF, CRLF or CR, also one that is split between two pieces. Text is decoded only line by
 * line, so that a character split between two pieces is never decoded in halves. Bytes that are no UTF-8 become U+FFFD.
 */
export function createLineReader(limit: number = lineLimit): LineReader {
  const begun = createByteStore(limit)
  let afterReturn = false
  let first = true

  function line(bytes: Uint8Array, start: number, end: number): string {
    if (begun.length + end - start > limit) throw tooLong(limit)
    const text = begun.length === 0 ? decode(bytes, start, end) : begun.take(bytes.subarray(start, end))
    if (!first) return text
    first = false
    return text.startsWith(byteOrderMark) ? text.slice(1) : text
  }

  return {
    push(bytes) {
      const lines: string[] = []
      let start = afterReturn && bytes[0] === lineFeed ? 1 : 0
      if (bytes.length > 0) afterReturn = false
      let feed = bytes.indexOf(lineFeed, start)
      let back = bytes.indexOf(carriageReturn, start)
      while (feed !== -1 || back !== -1) {
        const end = feed === -1 || (back !== -1 && back < feed) ? back : feed
        lines.push(line(bytes, start, end))
        start = end === back && end + 1 === feed ? feed + 1 : end + 1
        afterReturn = end === back && start === bytes.length && end + 1 === start
        if (feed !== -1 && feed < start) feed = bytes.indexOf(lineFeed, start)
        if (back !== -1 && back < start) back = bytes.indexOf(carriageReturn, start)
      }
      if (start < bytes.length) begun.add(bytes.subarray(start))
      return lines
    },
    end() {
      return begun.length > 0 ? [line(new Uint8Array(0), 0, 0)] : []
    },
  }
}

/**
 * Reads server-sent events. Comments, `id` and `retry` lines are skipped; leading blank lines make no event. An event that
 * ends at a bare CR comes with the bytes after it.
 */
export function createEventReader(limit: number = lineLimit): EventReader {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let isBegun = false
  let events: ServerEvent[] = []
  const parser = createParser({
    maxBufferSize: limit,
    onEvent({ event = '', data }) {
      if (data.length > limit) throw tooLong(limit)
      events.push({ event, data })
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw tooLong(limit)
    },
  })

  function take(text: string): ServerEvent[] {
    parser.feed(text)
    const taken = events
    events = []
    return taken
  }

  /** A decoder is made where bytes beyond ASCII come: each is an object outside V8's heap, which outlives its stream. */
  function decoded(bytes: Uint8Array): string {
    if (!decoder && isAscii(bytes)) {
      isBegun ||= bytes.length > 0
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    }
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: isBegun })
    return decoder.decode(bytes, { stream: true })
  }

  return {
    push: (bytes) => take(decoded(bytes)),
    end: () => take(`${decoder?.decode() ?? ''}\n\n`),
  }
}

interface ByteStore {
  readonly length: number
  /** Keeps a copy: the caller may use its buffer again. */
  add(bytes: Uint8Array): void
  /** The kept bytes and these as text; nothing is kept afterwards. */
  take(bytes: Uint8Array): string
}

/** Bytes of a begun line. The store doubles as it grows, so that a line which comes byte by byte costs its length. */
function createByteStore(limit: number): ByteStore {
  let store = Buffer.alloc(0)
  let length = 0

  function add(bytes: Uint8Array): void {
    if (length + bytes.length > limit) throw tooLong(limit)
    if (length + bytes.length > store.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * (length + bytes.length)))
      store.copy(larger, 0, 0, length)
      store = larger
    }
    store.set(bytes, length)
    length += bytes.length
  }

  return {
    get length() {
      return length
    },
    add,
    take(bytes) {
      add(bytes)
      const text = store.toString('utf8', 0, length)
      length = 0
      return text
    },
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('utf8', start, end)
}

function tooLong(limit: number): DialectError {
  return new DialectError('broken', { message: `The provider sent a line of more than ${limit} bytes` })
}
