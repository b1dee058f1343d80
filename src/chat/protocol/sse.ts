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

/** Reads server-sent events, without comments, `id`, `retry`. One that ends at a bare CR comes with the next bytes. */
export function createEventReader(limit: number = lineLimit) {
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
    /** The events that these bytes complete. Throws a DialectError for a line or an event over the limit. */
    push: (bytes: Uint8Array) => take(decoded(bytes)),
    /** The event that the body ended in: a provider may leave out the last blank line. */
    end: () => take(`${decoder?.decode() ?? ''}\n\n`),
  }
}

function tooLong(limit: number): DialectError {
  return new DialectError('broken', { message: `The provider sent a line of more than ${limit} bytes` })
}
