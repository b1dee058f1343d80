import type { HttpResponse } from '../http/http.ts'
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

  isEnding(): boolean {
    return this.#at >= this.#chunks.length && (this.#isOver || (this.#reader.complete && !this.#mayGoOn))
  }

  async next(): Promise<IteratorResult<ChatChunk, undefined>> {
    while (this.#at >= this.#chunks.length) {
      if (this.#isOver) return { done: true, value: undefined }
      this.#at = 0
      this.#chunks = []
      try {
        this.#chunks = this.#isRead() ? this.#end() : this.#read(await this.#next())
      } catch (reason) {
        this.#chunks = await this.#broken(reason)
      }
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

  /** Whether nothing more counts: the rest of the body is drained then. */
  #isRead(): boolean {
    if (!this.#reader.complete || this.#mayGoOn) return false
    this.#reply.discard()
    return true
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#bytes ??= this.#reply.body[Symbol.asyncIterator]()
    return this.#bytes.next()
  }

  /** The chunks of these bytes, or those of the end. */
  #read(next: IteratorResult<Uint8Array>): readonly ChatChunk[] {
    return next.done ? this.#end() : this.#reader.push(next.value)
  }

  /** The chunks that an answer has delivered when it breaks off: none, and the reason is thrown, before the dialect's own end. */
  async #broken(reason: unknown): Promise<readonly ChatChunk[]> {
    if (this.#reader.complete && !this.#isOver) return this.#end()
    this.#isOver = true
    await this.#bytes?.return?.()
    throw reason
  }

  #end(): readonly ChatChunk[] {
    this.#isOver = true
    return this.#reader.end()
  }
}
