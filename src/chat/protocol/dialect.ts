import type { ProviderError } from '../../errors.ts'
import type { ChatChunk, ChatReply, ChatRequest } from './messages.ts'

/** How a plugin's file bends its dialect: a short closed list, see `quirks` in the plugin's manifest. */
export interface Quirks {
  readonly max_tokens_field?: 'max_tokens' | 'max_completion_tokens'
  /** The role of the system prompt. */
  readonly system_as?: 'system' | 'developer' | 'user'
  /** Ids of tool calls must match this regular expression; others are renamed, consistently within one request. */
  readonly tool_id_pattern?: string
  /** The provider refuses `stream_options`. */
  readonly no_stream_options?: boolean
}

/** A request as sent, before the key is added. */
export interface WireRequest {
  /** The plugin's endpoint with `{model}` filled in and, for Gemini, the streaming method chosen. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * An error a provider reported, in a 4xx/5xx body, inside a 200, or as an event of a stream. Its `code` is as
 * `insufficient_quota` or `RESOURCE_EXHAUSTED`, its `type` as `invalid_request_error` or `INVALID_ARGUMENT`.
 */
export interface WireError extends ProviderError {
  /** The provider's own words. */
  readonly message: string
  /** The HTTP status that the body names, where it differs from the answer's own. */
  readonly status?: number
  /** Milliseconds to wait, where the body tells (Gemini's RetryInfo). */
  readonly retryAfterMs?: number
}

/** An error for a client: our sentence, and the names that the dialect's clients look for. */
export interface ClientError {
  readonly message: string
  /** The provider's error type; a dialect that has other names takes its own by `status`. */
  readonly type?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly status?: number
}

/** Reads a streamed answer: bytes in any cut in, chunks out, as `ChatChunk` promises. */
export interface StreamReader {
  /** Feeds bytes as they arrive; returns the chunks they complete. Throws a DialectError on an error event or broken data. */
  push(bytes: Uint8Array): readonly ChatChunk[]
  /** Ends the body; returns the chunks held back. Throws a DialectError when the dialect's own end was not read. */
  end(): readonly ChatChunk[]
  /**
   * True once the dialect's own end has been read: from here the answer is whole and nothing can go wrong any more.
   * More may still come (Gemini's last token counts), so read on until the body ends and call `end`.
   */
  readonly complete: boolean
}

/** Writes a streamed answer in a dialect, for the clients of `/v1/…`. Every string is whole events, or empty. */
export interface StreamWriter {
  push(chunk: ChatChunk): string
  end(): string
  /** A failure after the first byte: an error event, and never a clean end. */
  fail(error: ClientError): string
}

/** The wire format of one family of providers. Pure: bytes and JSON in and out. `now` dates undated answers, in ms. */
export interface Dialect {
  readonly id: 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini' | 'ollama'
  /** True for an endpoint that is spelled as this dialect's are, when the plugin does not name its `api`. */
  matches(endpoint: string): boolean
  /**
   * Our request as the provider's. Adds only fields that the provider requires; callers that want token counts of a stream
   * set `stream_options.include_usage` first. Throws an AppError `invalid` for a request that this dialect cannot express
   * and must not shorten silently, such as one for several answers.
   */
  writeRequest(request: ChatRequest, endpoint: string, quirks?: Quirks): WireRequest
  /** The provider's answer as ours. Throws a DialectError when the body is an error in disguise or not an answer at all. */
  readResponse(body: unknown, now?: number): ChatReply
  /** The error in a parsed body, or undefined when the body holds none. Reads every provider's spelling that is known. */
  readError(body: unknown): WireError | undefined
  createStreamReader(now?: number): StreamReader
}

/** A dialect that clients speak here too. */
export interface ClientDialect extends Dialect {
  readonly id: Exclude<Dialect['id'], 'gemini'>
  /** A client's request as ours; the model is "" where none is named. Throws an AppError `invalid` with every problem. */
  readRequest(body: unknown): ChatRequest
  /** Our answer as this dialect's: dated by its `created`, and with what the dialect repeats of the request. */
  writeResponse(reply: ChatReply, request?: ChatRequest): Record<string, unknown>
  /** The source text of an answer that this dialect has read, unchanged since; undefined for any other. */
  sourceOf?(reply: ChatReply): string | undefined
  /** An error as this dialect's body. */
  writeError(error: ClientError): Record<string, unknown>
  createStreamWriter(request: ChatRequest): StreamWriter
}

/** A provider's answer that is an error or cannot be read. The router classifies it; see failure.ts. */
export class DialectError extends Error {
  override readonly name = 'DialectError'
  /** `reported` by the provider; `broken`: the data does not parse; `cut`: the stream ended before its end. */
  readonly kind: 'reported' | 'broken' | 'cut'
  readonly error: WireError

  constructor(kind: 'reported' | 'broken' | 'cut', error: WireError, options?: ErrorOptions) {
    super(error.message, options)
    this.kind = kind
    this.error = error
  }
}
