import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { AskedPlace, RequestWatch, ToldAttempt } from '../chat/chat.ts'
import { AppError, toAppError } from '../errors.ts'
import { heavyValue, weightOf, writeJson } from '../formats/formats.ts'
import { looksLikeKey } from '../plugins/plugins.ts'
import { userOf } from './request-holder.ts'

/** The headers of every answer (OWASP REST Security Cheat Sheet): it is not cached, sniffed, framed or run. */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** The value of Strict-Transport-Security: browsers use https alone for a year of seconds. */
export const oneYear = 'max-age=31536000'

/** Whether this server itself speaks TLS with the client. */
export function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

/** A request target in absolute form, `http://host/path`, as clients write it to a proxy (RFC 9112, section 3.2.2). */
const absoluteForm = /^[a-z][a-z\d+.-]*:\/\/([^/?]*)/i

/** The host that a request target names itself, in absolute form; it counts rather than the Host header. */
export function targetHost(target = '/'): string | undefined {
  return target.startsWith('/') ? undefined : absoluteForm.exec(target)?.[1]
}

/** The path and the query of a request target, not decoded. */
export function splitTarget(given = '/'): { readonly path: string; readonly search: string } {
  const target = given.startsWith('/') ? given : given.replace(absoluteForm, '').replace(/^(?=\?|$)/, '/')
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, search: '' } : { path: target.slice(0, mark), search: target.slice(mark + 1) }
}

/** Whether a header was sent more than once. */
export function isRepeated({ headers, rawHeaders }: IncomingMessage, name: string): boolean {
  if (headers[name] === undefined) return false
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) times++
  return times > 1
}

/** Opens the context of a request and sets the headers of every answer. `ended` is called once, when the answer ends or is cut off. */
export function openRequestContext(
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
  ended: () => void = () => {},
): RequestContext {
  const context = new RequestContext(request, response, params)
  response.on('close', () => {
    if (!response.writableFinished) context.abort()
    ended()
  })
  for (const name in safeHeaders) response.setHeader(name, safeHeaders[name as keyof typeof safeHeaders])
  if (isEncrypted(request)) response.setHeader('strict-transport-security', oneYear)
  response.setHeader('x-request-id', context.id)
  return context
}

/** A request and its answer, as guards and routes see them. Rarely used parts, such as the query, are created on first use. */
export class RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** Milliseconds on the monotonic clock. */
  readonly startedAt = performance.now()
  readonly record: RequestRecord
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly #search: string
  #controller: AbortController | undefined
  /** The connection's, once this request has used it. */
  #shared: AbortController | undefined

  constructor(request: IncomingMessage, response: ServerResponse, params: Readonly<Record<string, string>>) {
    this.request = request
    this.response = response
    this.params = params
    const id = request.headers['x-request-id']
    // The id is in logs: nothing that may be a key is taken as one.
    this.id = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) && !looksLikeKey(id) ? id : randomUUID()
    this.record = new RequestRecord(request.socket.bytesWritten, this.id)
    const { path, search } = splitTarget(request.url)
    this.path = path
    this.#search = search
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#search)
  }

  /** Aborted when the client disconnects before the answer is complete. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** Aborted as `signal`, without a listener left behind: answers of a connection share it (a signal costs 5 µs). */
  get connection(): AbortSignal {
    this.#shared ??= this.#controller?.signal.aborted ? this.#controller : controllerOf(this.request.socket)
    return this.#shared.signal
  }

  get failure(): AppError | undefined {
    const reason: unknown = this.#controller?.signal.reason
    return reason instanceof AppError ? reason : undefined
  }

  /** Aborts the work for this request; its answer ends with the failure. */
  abort(reason?: AppError): void {
    // A later read of `signal` must find it aborted too.
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
    if (!this.#shared) return
    // The next request on the connection begins with another.
    const { socket } = this.request
    if (connections.get(socket) === this.#shared) connections.delete(socket)
    this.#shared.abort(reason)
  }

  /** Throws the reason once `signal` is aborted, and makes no signal to find out. */
  throwIfAborted(): void {
    this.#controller?.signal.throwIfAborted()
  }
}

const connections = new WeakMap<Socket, AbortController>()

function controllerOf(socket: Socket): AbortController {
  const known = connections.get(socket)
  if (known) return known
  const controller = new AbortController()
  connections.set(socket, controller)
  if (socket.destroyed) controller.abort()
  else socket.once('close', () => controller.abort())
  return controller
}

/** Answers with JSON, unless the client has disconnected. */
export function sendJson(context: RequestContext, status: number, value: unknown): void {
  if (context.response.destroyed) return
  if (weightOf(value, heavyValue) > heavyValue) void sendHeavy(context, status, value)
  else endText(context, status, JSON.stringify(value))
}

/** Answers with JSON that is text already, as it came from a provider, unless the client has disconnected. */
export function sendText(context: RequestContext, status: number, text: string): void {
  if (!context.response.destroyed) endText(context, status, text)
}

/** Answers with megabytes of JSON, in turns of the event loop and with backpressure. */
async function sendHeavy({ request, response }: RequestContext, status: number, value: unknown): Promise<void> {
  const work = { user: userOf(request), isOver: () => response.destroyed }
  const written = await writeJson(value, work).catch(() => void response.destroy())
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

/** Head and text leave together. */
function endText(context: RequestContext, status: number, text: string): void {
  const bytes = Buffer.byteLength(text)
  setJsonHead(context, status, bytes)
  context.response.end(text, encodingOf(text, bytes))
}

/** The encoding in which a text of so many bytes in UTF-8 is sent: one that is ASCII alone needs none on the way. */
export function encodingOf(text: string, bytes: number = Buffer.byteLength(text)): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8'
}

function setJsonHead({ response }: RequestContext, status: number, bytes: number): void {
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', bytes)
  response.statusCode = status
}

/** A failure as the body of an answer, in the shape of its route. */
export type ErrorBody = (error: AppError, requestId: string, context: RequestContext) => Record<string, unknown>

/** The error body of /api; `type` and `param` are there where a provider named them. */
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

/** The failure of a request: the reason of its abort, else the thrown error. */
export function failureOf({ failure }: RequestContext, thrown: unknown): AppError {
  return failure ?? toAppError(thrown)
}

/** Answers with a failure; closes the connection if the answer has begun. */
export function sendError(context: RequestContext, thrown: unknown, body: ErrorBody = errorBody): void {
  const { request, response, id } = context
  const error = failureOf(context, thrown)
  if (response.headersSent) return void response.destroy()
  for (const name in error.headers) response.setHeader(name, error.headers[name]!)
  if (error.retryAfter !== undefined) response.setHeader('retry-after', String(error.retryAfter))
  // Keeps the libraries of OpenAI and Anthropic from repeating a 429 or 503 that no retry can mend.
  if (error.final) response.setHeader('x-should-retry', 'false')
  if (request.complete) return sendJson(context, error.status, body(error, id, context))
  // The rest of a refused body is not read: the connection ends with the answer.
  response.setHeader('connection', 'close')
  const text = JSON.stringify(body(error, id, context))
  setJsonHead(context, error.status, Buffer.byteLength(text))
  response.write(text)
  linger(context)
}

/** How long the rest of a refused body is read and dropped: milliseconds. */
const lingerMs = 2_000

/**
 * Lets a client that is still sending read the answer: closing at once would reset the connection and lose the bytes that
 * it has not read yet (RFC 9112, section 9.6).
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

/** The facts of one request that its log line shows: never its content. */
class RequestRecord implements RequestWatch {
  /** The client's address, behind trusted proxies. */
  client: string | undefined
  /** The user's id. */
  user: string | undefined
  plugin: string | undefined
  place: Pick<AskedPlace, 'plugin' | 'model'> | undefined
  hasAnswered = false
  /** Requests sent to providers and runners. */
  attempts = 0
  /** Bytes that the connection had sent before. */
  readonly sentBefore: number
  readonly requestId: string

  constructor(sentBefore: number, requestId: string) {
    this.sentBefore = sentBefore
    this.requestId = requestId
  }

  attempted(attempt: ToldAttempt): void {
    const { plugin, runner, tries, outcome } = attempt
    this.plugin = plugin ?? `local:${runner}`
    this.place = attempt
    this.hasAnswered = outcome === 'answered'
    this.attempts += tries
  }
}
