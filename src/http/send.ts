import type { Readable } from 'node:stream'
import type { ProviderError } from '../errors.ts'

/** Milliseconds of the four clocks of one try. */
export interface Timeouts {
  readonly connect: number
  /** From the request sent to the answer's headers. */
  readonly firstByte: number
  /** Between two pieces of the body. */
  readonly idle: number
  /** Over all tries at all providers. */
  readonly total: number
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A stream goes with a header that says its length. */
  readonly body?: string | Uint8Array | Readable
  readonly timeouts: Pick<Timeouts, 'connect' | 'firstByte' | 'idle'>
  readonly signal?: AbortSignal | undefined
  /** Milliseconds on the monotonic clock, after which the exchange ends with `deadlineReached`. */
  readonly endsAt?: number | undefined
}

/** The reason with which an exchange ends when the time for the whole request is over. */
export const deadlineReached = new Error('no answer within the time allowed')

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body's bytes as they arrive. Leaving the loop early ends the request. */
  readonly body: AsyncIterable<Uint8Array>
  /** The whole body as text; throws when it is longer than `limit` bytes. */
  text(limit: number): Promise<string>
  /** Discards the body: a short rest is drained so that the connection can be used again, a longer one closes it. */
  discard(): void
}

/** One HTTP exchange with a provider. Follows no redirect and never dials a forbidden address. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>

/** Reads the error in a provider's parsed body, in any spelling; undefined where there is none. */
export type ReadError = (body: unknown) => ({ readonly message: string } & ProviderError) | undefined
