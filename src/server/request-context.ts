import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { AppError, toAppError } from '../errors.ts'
import { heavyValue, weightOf, writeJson } from '../formats/json-writer.ts'

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

/** While a streamed answer is silent, a comment this often keeps proxies from closing it: milliseconds. */
const heartbeatMs = 15_000

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

/** Ends the context with JSON; one whose client has gone is left as it is. */
export function sendJson(context: RequestContext, status: number, value: unknown): void {
  if (context.response.destroyed) return
  if (weightOf(value, heavyValue) > heavyValue) void sendHeavy(context, status, value)
  else context.response.end(beginJson(context, status, value))
}

/** The same for an answer of megabytes: written in turns, and at the pace of its reader. */
async function sendHeavy({ response }: RequestContext, status: number, value: unknown): Promise<void> {
  const written = await writeJson(value, () => response.destroyed).catch(() => void response.destroy())
  if (!written || response.destroyed) return
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', written.length)
  response.statusCode = status
  for (const piece of written.pieces) {
    response.write(piece)
    if (response.writableNeedDrain) await drained(response)
    if (response.destroyed) return
  }
  response.end()
}

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

/** A streamed answer of server-sent events; the first write sends the headers. */
export interface EventWriter {
  /** Resolves when the client can take more; rejects never. */
  write(text: string): Promise<void> | undefined
  end(text?: string): void
}

export function openEvents({ response }: RequestContext, headers: Readonly<Record<string, string>> = {}): EventWriter {
  response.statusCode = 200
  response.setHeader('content-type', 'text/event-stream; charset=utf-8')
  response.setHeader('x-accel-buffering', 'no')
  for (const name in headers) response.setHeader(name, headers[name]!)
  response.socket?.setNoDelay(true)
  const heartbeat = setInterval(() => response.write(': waiting\n\n'), heartbeatMs)
  heartbeat.unref()
  let pending = ''
  const flush = () => {
    if (pending === '') return
    response.write(pending)
    pending = ''
  }
  return {
    write(text) {
      heartbeat.refresh()
      // Events that arrive together leave together: each write costs more than the events in it.
      if (pending === '') process.nextTick(flush)
      pending += text
      return response.writableNeedDrain && !response.destroyed ? drained(response) : undefined
    },
    end(text) {
      clearInterval(heartbeat)
      response.end(pending + (text ?? ''))
      pending = ''
    },
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  response.once('close', stop)
  await once(response, 'drain', { signal: controller.signal }).catch(() => {})
  response.off('close', stop)
}
