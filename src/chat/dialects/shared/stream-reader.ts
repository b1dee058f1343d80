import { chunksOf } from '../../protocol/chunks.ts'
import { DialectError, type StreamReader } from '../../protocol/dialect.ts'
import { parseEvent } from '../../protocol/json-object.ts'
import { createJsonReader } from '../../protocol/json-stream.ts'
import type { ChatChunk, ChatReply } from '../../protocol/messages.ts'
import { throwIfError, truncatedStream } from './wire-error.ts'

export interface StreamReaderParts<Piece> {
  /** Cuts bytes into the dialect's pieces: events or JSON values. */
  readonly cut: { push(bytes: Uint8Array): readonly Piece[]; end(): readonly Piece[] }
  /** Reads pieces as chunks. Skips those after the dialect's own end. */
  readonly take: (pieces: readonly Piece[]) => readonly ChatChunk[]
  /** True once the dialect's own end has been read. */
  readonly isComplete: () => boolean
  /** The chunks that wait for the end of the body. Throws `cut` where the body may not end here. Default: throws. */
  readonly finish?: () => readonly ChatChunk[]
  /** True once nothing more can follow. Default: isComplete. */
  readonly isOver?: () => boolean
}

/** Assembles a stream reader. A last piece that does not parse counts as the begin of a longer one: the stream was cut. */
export function assembleReader<Piece>(parts: StreamReaderParts<Piece>): StreamReader {
  return new AssembledReader(parts)
}

/** A class, since a literal with a getter is made field by field, which took a hundredth of the time of a short stream. */
class AssembledReader<Piece> implements StreamReader {
  readonly #parts: StreamReaderParts<Piece>

  constructor(parts: StreamReaderParts<Piece>) {
    this.#parts = parts
  }

  get complete(): boolean {
    return this.#parts.isComplete()
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    const { take, cut } = this.#parts
    return take(cut.push(bytes))
  }

  end(): readonly ChatChunk[] {
    if (this.#isOver()) return []
    const last = this.#takeLast()
    if (this.#isOver()) return last
    const { finish } = this.#parts
    if (!finish) throw truncatedStream()
    return [...last, ...finish()]
  }

  #isOver(): boolean {
    const { isOver, isComplete } = this.#parts
    return isOver ? isOver() : isComplete()
  }

  #takeLast(): readonly ChatChunk[] {
    const { take, cut } = this.#parts
    try {
      return take(cut.end())
    } catch (error) {
      if (error instanceof DialectError && error.kind === 'broken') throw truncatedStream()
      throw error
    }
  }
}

/** Reads a streamed answer as events or, by its first byte, as JSON. HTML, such as a proxy's error page, is broken. */
export function withJsonBody(stream: StreamReader, json: () => StreamReader): StreamReader {
  return new StreamOrJson(stream, json)
}

class StreamOrJson implements StreamReader {
  readonly #stream: StreamReader
  readonly #json: () => StreamReader
  #chosen: StreamReader | undefined

  constructor(stream: StreamReader, json: () => StreamReader) {
    this.#stream = stream
    this.#json = json
  }

  get complete(): boolean {
    return (this.#chosen ?? this.#stream).complete
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    if (this.#chosen) return this.#chosen.push(bytes)
    const start = bytes.findIndex((byte) => !blanks.includes(byte))
    if (start === -1) return []
    const first = bytes[start]
    if (first === angle) throw new DialectError('broken', { message: 'The provider sent a page instead of an answer' })
    this.#chosen = first === brace || first === bracket ? this.#json() : this.#stream
    return this.#chosen.push(start === 0 ? bytes : bytes.subarray(start))
  }

  end(): readonly ChatChunk[] {
    return (this.#chosen ?? this.#stream).end()
  }
}

/** Reads a whole answer in JSON as chunks. Throws a DialectError `reported` where it is an error. */
export function createResponseReader(readResponse: (body: unknown) => ChatReply): StreamReader {
  let complete = false
  return assembleReader({
    cut: createJsonReader(),
    take([text]) {
      if (text === undefined || complete) return []
      const body = parseEvent(text)
      throwIfError(body)
      const chunks = chunksOf(readResponse(body))
      complete = true
      return chunks
    },
    isComplete: () => complete,
  })
}

/** White space, and the three bytes of a byte order mark. */
const blanks: readonly number[] = [32, 9, 10, 13, 0xef, 0xbb, 0xbf]
const angle = 60
const brace = 123
const bracket = 91
