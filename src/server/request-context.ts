import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { AppError, toAppError } from '../errors.ts'

/** One request and its answer, in the shape that guards and routes share. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number
  readonly path: string
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string>>
  /** Aborted when the client goes away before the answer is whole. */
  readonly signal: AbortSignal
  /**
   * Aborted when the client's connection ends: for work that leaves no listener behind. One for all answers on it, since
   * a signal of its own costs each of them 5 µs.
   */
  readonly gone: AbortSignal
  /** Why it was broken off, where it was. */
  readonly failure: AppError | undefined
  /** Breaks the context off: what is being done for it stops, and the failure is what its answer ends with. */
  abort(reason: AppError): void
}

/** Said with every answer (OWASP REST Security Cheat Sheet): nothing is cached, sniffed, framed or run. */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** An address line's path and query, neither of them decoded. */
export function splitTarget(target = '/'): { readonly path: string; readonly search: string } {
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark + 1) }
}

/** Begins an answer with what every answer says. `ended` is called once, when the answer is whole or has been cut off. */
export function openRequestContext(
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
  ended: () => void = () => {},
): RequestContext {
  const context = new NodeRequestContext(request, response, params)
  response.once('close', () => {
    if (!response.writableFinished) context.abort()
    ended()
  })
  for (const name in safeHeaders) response.setHeader(name, safeHeaders[name as keyof typeof safeHeaders])
  response.setHeader('x-request-id', context.id)
  return context
}

/** What few requests ask for, such as their query, is made when it is asked for. */
class NodeRequestContext implements RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  readonly startedAt = performance.now()
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly #search: string
  #controller: AbortController | undefined

  constructor(request: IncomingMessage, response: ServerResponse, params: Readonly<Record<string, string>>) {
    this.request = request
    this.response = response
    this.params = params
    const offered = request.headers['x-request-id']
    this.id = typeof offered === 'string' && /^[\w-]{1,64}$/.test(offered) ? offered : randomUUID()
    const { path, search } = splitTarget(request.url)
    this.path = path
    this.#search = search
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#search)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  get gone(): AbortSignal {
    const { socket } = this.request
    const known = connections.get(socket)
    if (known) return known.signal
    const controller = new AbortController()
    connections.set(socket, controller)
    if (socket.destroyed) controller.abort()
    else socket.once('close', () => controller.abort())
    return controller.signal
  }

  get failure(): AppError | undefined {
    const reason: unknown = this.#controller?.signal.reason
    return reason instanceof AppError ? reason : undefined
  }

  abort(reason?: AppError): void {
    // A signal that is asked for later must be aborted too.
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }
}

const connections = new WeakMap<Socket, AbortController>()

/** Ends the context with JSON. */
export function sendJson(context: RequestContext, status: number, value: unknown): void {
  const text = beginJson(context, status, value)
  // To turn a text of megabytes into bytes takes as long as to write it: others have their turn in between.
  if (text.length > heavyText) setImmediate(() => context.response.end(text))
  else context.response.end(text)
}

/** From this length on an answer's text costs milliseconds: characters. */
const heavyText = 1024 * 1024

/** Says what is coming: the headers of a JSON answer, and its text. */
function beginJson({ response }: RequestContext, status: number, value: unknown): string {
  const text = JSON.stringify(value)
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.statusCode = status
  return text
}

/** A failure as the body of an answer, in the shape that this context's client knows. */
export type ErrorBody = (error: AppError, requestId: string, context: RequestContext) => Record<string, unknown>

/** The house's error body; `details` is always there, `type` and `param` where a provider named them. */
export function errorBody(error: AppError, requestId: string): Record<string, unknown> {
  const { type, param } = error.provider ?? {}
  return {
    error: error.message,
    details: [...error.details],
    code: error.shownCode,
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    request_id: requestId,
  }
}

/** Why a request failed: why it was broken off, where that was the cause, else what was thrown. */
export function failureOf({ failure }: RequestContext, thrown: unknown): AppError {
  return failure ?? toAppError(thrown)
}

/** Ends the context with a failure, or ends the connection when the answer has begun. */
export function sendError(context: RequestContext, thrown: unknown, body: ErrorBody = errorBody): void {
  const { request, response, id } = context
  const error = failureOf(context, thrown)
  if (response.headersSent) return void response.destroy()
  if (error.retryAfter !== undefined) response.setHeader('retry-after', String(error.retryAfter))
  // The word of OpenAI and Anthropic to their libraries, which would repeat a 429 or 503 that cannot mend itself.
  if (error.final) response.setHeader('x-should-retry', 'false')
  if (request.complete) return sendJson(context, error.status, body(error, id, context))
  // What is left of a refused body is not worth reading: the connection ends with the answer.
  response.setHeader('connection', 'close')
  const text = beginJson(context, error.status, body(error, id, context))
  response.write(text)
  linger(context)
}

/** How long the rest of a refused body is taken and dropped: milliseconds. */
const lingerMs = 2_000

/**
 * Lets a client that is still sending hear the answer. To close at once would reset the connection, and what the client had
 * not read yet would be lost (RFC 9112, section 9.6).
 */
function linger({ request, response }: RequestContext): void {
  const finish = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(finish, lingerMs)
  request.once('end', finish).once('close', finish).once('error', finish)
  request.resume()
}

/** Resolves when the response takes more bytes, or has been closed; never rejects. */
export async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  response.once('close', stop)
  await once(response, 'drain', { signal: controller.signal }).catch(() => {})
  response.off('close', stop)
}
