import type { HttpResponse } from '../http/send.ts'
import type { StreamReader } from './protocol/dialect.ts'
import type { ChatChunk } from './protocol/messages.ts'
import type { ReadyIterator } from './protocol/ready.ts'

/**
 * The chunks of a streamed answer as its bytes arrive. `mayGoOn` says whether more counts after the dialect's own end; where
 * not, the rest of the body is drained there, so that its connection can be used again. `named` completes a chunk. Leaving
 * early ends the exchange. An iterator by hand: a generator makes three promises of every chunk.
 */
export class ReadChunks implements ReadyIterator<ChatChunk> {
  readonly #reply: HttpResponse
  readonly #reader: StreamReader
  readonly #mayGoOn: boolean
  readonly #named: (chunk: ChatChunk) => ChatChunk
  #bytes: AsyncIterator<Uint8Array> | undefined
  #chunks: readonly ChatChunk[] = []
  #at = 0
  #isOver = false

  constructor(
    reply: HttpResponse,
    reader: StreamReader,
    { mayGoOn, named }: { readonly mayGoOn: boolean; readonly named: (chunk: ChatChunk) => ChatChunk },
  ) {
    this.#reply = reply
    this.#reader = reader
    this.#mayGoOn = mayGoOn
    this.#named = named
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  ready(): ChatChunk | undefined {
    return this.#at < this.#chunks.length ? this.#named(this.#chunks[this.#at++]!) : undefined
  }

  async next(): Promise<IteratorResult<ChatChunk, undefined>> {
    while (this.#at >= this.#chunks.length) {
      if (this.#isOver) return { done: true, value: undefined }
      this.#at = 0
      this.#chunks = []
      this.#chunks = await this.#read()
    }
    return { done: false, value: this.#named(this.#chunks[this.#at++]!) }
  }

  async return(): Promise<IteratorResult<ChatChunk, undefined>> {
    const wasOver = this.#isOver
    this.#isOver = true
    this.#chunks = []
    if (!wasOver) await this.#bytes?.return?.()
    return { done: true, value: undefined }
  }

  /** The chunks of the next bytes, or those of the end. */
  async #read(): Promise<readonly ChatChunk[]> {
    const reader = this.#reader
    try {
      if (reader.complete && !this.#mayGoOn) {
        this.#reply.discard()
        return this.#end()
      }
      this.#bytes ??= this.#reply.body[Symbol.asyncIterator]()
      const next = await this.#bytes.next()
      return next.done ? this.#end() : reader.push(next.value)
    } catch (reason) {
      // A connection that breaks after the dialect's own end has delivered everything.
      if (reader.complete && !this.#isOver) return this.#end()
      this.#isOver = true
      await this.#bytes?.return?.()
      throw reason
    }
  }

  #end(): readonly ChatChunk[] {
    this.#isOver = true
    return this.#reader.end()
  }
}
