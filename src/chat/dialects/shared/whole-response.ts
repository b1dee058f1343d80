import { chunksOf } from '../../protocol/chunks.ts'
import { DialectError, type StreamDecoder } from '../../protocol/dialect.ts'
import { parseEvent } from '../../protocol/json-object.ts'
import { createJsonReader } from '../../protocol/json-stream.ts'
import type { ChatReply } from '../../protocol/messages.ts'
import { throwIfError, truncatedStream } from './wire-error.ts'

/**
 * Reads a streamed answer also where the provider sent no events but JSON, with the decoder for that; a page of a proxy's
 * is broken. The first byte that is no white space tells which it is.
 */
export function withJsonBody(stream: StreamDecoder, json: StreamDecoder): StreamDecoder {
  let chosen: StreamDecoder | undefined

  return {
    push(bytes) {
      if (chosen) return chosen.push(bytes)
      const start = bytes.findIndex((byte) => !blanks.includes(byte))
      if (start === -1) return []
      const first = bytes[start]
      if (first === angle)
        throw new DialectError('broken', { message: 'The provider sent a page instead of an answer' })
      chosen = first === brace || first === bracket ? json : stream
      return chosen.push(bytes.subarray(start))
    },
    end: () => (chosen ?? stream).end(),
    get complete() {
      return (chosen ?? stream).complete
    },
  }
}

/** Reads a whole answer in JSON as chunks. Throws a DialectError `reported` where it is an error. */
export function decodeWholeResponse(readReply: (body: unknown) => ChatReply): StreamDecoder {
  const reader = createJsonReader()
  let complete = false
  return {
    push(bytes) {
      const [text] = reader.push(bytes)
      if (text === undefined || complete) return []
      const body = parseEvent(text)
      throwIfError(body)
      const chunks = chunksOf(readReply(body))
      complete = true
      return chunks
    },
    end() {
      if (!complete) throw truncatedStream()
      return []
    },
    get complete() {
      return complete
    },
  }
}

/** White space, and the three bytes of a byte order mark. */
const blanks: readonly number[] = [32, 9, 10, 13, 0xef, 0xbb, 0xbf]
const angle = 60
const brace = 123
const bracket = 91
