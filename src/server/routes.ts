import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { parseInput } from '../operations/ask.ts'
import { type Call, type Caller, Download, type Operation } from '../operations/operation.ts'
import {
  defaultLimit,
  type ErrorBody,
  type Exchange,
  errorBody,
  failureOf,
  openEvents,
  readBytes,
  readJson,
  sendJson,
} from './exchange.ts'

/** One way of a path: what answers a method there. Errors are shown in the route's own body shape. */
export interface Route {
  readonly method: string
  readonly path: string
  handle(exchange: Exchange): void | Promise<void>
  readonly errorBody?: ErrorBody
}

/** Who asks, judged from the request's headers; throws when the operation's access rule refuses. */
export interface Identity {
  readonly caller: Caller
  readonly session?: string | undefined
  readonly address?: string | undefined
  /** Calls back when the login ends; returns how to stop watching it. */
  readonly watch?: ((ended: () => void) => () => void) | undefined
}

/** What of an operation, or of a route that is none, says who may ask. */
export type Rule = Pick<Operation, 'access' | 'blockedInSingleUserMode'> & {
  /** The token may also come as x-api-key. */
  readonly apiKey?: true
}

export type Identify = (exchange: Exchange, rule: Rule) => Identity | Promise<Identity>

/** Carries one request to its operation and the answer back: guard, read, ask the core, answer. */
export async function serveOperation(
  app: App,
  operation: Operation,
  exchange: Exchange,
  identify: Identify,
): Promise<void> {
  const identity = await identify(exchange, operation)
  const call = callOf(app, exchange, identity)
  await operation.locate?.(call, exchange.params)
  const input = parseInput(operation, await readInput(operation, exchange))
  if (operation.stream?.wanted(input))
    return whileLoggedIn(exchange, identity, () => serveStream(operation, call, input, exchange))
  const output: unknown = await operation.run(call, input)
  if (operation.audited) await audit(operation, call, exchange.params['id'] ?? idOf(output))
  if (output instanceof Download) return whileLoggedIn(exchange, identity, () => sendDownload(exchange, output))
  if (operation.attachment)
    exchange.response.setHeader(
      'content-disposition',
      `attachment; filename="${safeName(operation.attachment(output))}"`,
    )
  sendJson(exchange, operation.status ?? 200, output)
}

/** What the core is told of an exchange. */
export function callOf(app: App, exchange: Exchange, { caller, session, address }: Identity): Call {
  const { response, signal } = exchange
  return { app, caller, session, address, signal, header: (name, value) => void response.setHeader(name, value) }
}

/** Does the work of a long answer, and breaks the exchange off when its login ends meanwhile. */
export async function whileLoggedIn(exchange: Exchange, { watch }: Identity, work: () => Promise<void>): Promise<void> {
  const unwatch = watch?.(() => exchange.abort(new AppError('unauthenticated', 'The login has ended')))
  try {
    await work()
  } finally {
    unwatch?.()
  }
}

async function audit({ name }: Operation, { app, caller, address }: Call, target: string | undefined): Promise<void> {
  const accounts = await app.accounts()
  accounts.record({ action: name, actor: caller.id, target, address, outcome: 'ok' })
}

function idOf(output: unknown): string | undefined {
  const { id, user } = (output ?? {}) as { id?: unknown; user?: unknown }
  if (user !== undefined) return idOf(user)
  return typeof id === 'string' ? id : undefined
}

async function readInput(operation: Operation, exchange: Exchange): Promise<Record<string, unknown>> {
  const { request, params, query } = exchange
  const input: Record<string, unknown> = {}
  for (const [name, value] of query)
    if (!(name in input))
      Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true })
  if (operation.upload) Object.assign(input, await readUpload(operation, exchange))
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    const body = await readJson(request, operation.limit ?? defaultLimit)
    if (operation.bodyField) input[operation.bodyField] = body
    else if (body !== undefined) {
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw new AppError('invalid', 'The body must be a JSON object')
      Object.assign(input, body)
    }
  }
  return Object.assign(input, params)
}

async function readUpload(operation: Operation, { request }: Exchange): Promise<Record<string, unknown>> {
  const { field, as } = operation.upload!
  const limit = operation.limit ?? defaultLimit
  const type = request.headers['content-type'] ?? ''
  if (as === 'stream') return { [field]: limited(request, limit) }
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new AppError('unsupported_media', 'The body must be sent as multipart/form-data')
  const bytes = await readBytes(request, limit)
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch (cause) {
    throw new AppError('invalid', 'The form cannot be read', { cause })
  }
  // The earlier public implementation called the part `plugin`; its clients are understood.
  const part = form.get(field) ?? form.get('plugin')
  if (part === null) throw new AppError('invalid', 'Invalid request', { details: [`${field}: the part is missing`] })
  return { [field]: typeof part === 'string' ? part : await part.text() }
}

/** Leaving it early leaves the connection as it is, for an answer to be heard on it. */
async function* limited(request: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > limit) throw new AppError('too_large', `The body is larger than ${Math.round(limit / 1024 / 1024)} MiB`)
    yield piece
  }
}

/** Server-sent events, one JSON value each, `[DONE]` at a clean end and an `error` event at any other. */
async function serveStream(operation: Operation, call: Call, input: unknown, exchange: Exchange): Promise<void> {
  const { chunks, headers } = await operation.stream!.run(call, input)
  const events = openEvents(exchange, headers)
  try {
    for await (const chunk of chunks) {
      const wait = events.write(`data: ${JSON.stringify(chunk)}\n\n`)
      if (wait) await wait
      exchange.signal.throwIfAborted()
    }
    events.end('data: [DONE]\n\n')
  } catch (thrown) {
    const error = failureOf(exchange, thrown)
    // The status line said 200 long ago: here the event says which failure this is.
    const body = { ...errorBody(error, exchange.id), status: error.status }
    events.end(`event: error\ndata: ${JSON.stringify(body)}\n\n`)
  }
}

/** Bytes as they are made, or whole with their length. */
export async function sendDownload(
  { response, signal }: Exchange,
  { type, filename, body, headers, trailers }: Download,
): Promise<void> {
  response.statusCode = 200
  response.setHeader('content-type', type)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (filename) response.setHeader('content-disposition', `attachment; filename="${safeName(filename)}"`)
  if (body instanceof Uint8Array) {
    response.setHeader('content-length', body.length)
    return void response.end(body)
  }
  const { pipeline } = await import('node:stream/promises')
  const { Readable } = await import('node:stream')
  if (trailers.length > 0) response.setHeader('trailer', trailers.join(', '))
  async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* pieces
    response.addTrailers(Object.fromEntries(trailers.map((name) => [name, headers[name] ?? ''])))
  }
  await pipeline(Readable.from(counted(body), { objectMode: false }), response, { signal })
}

function safeName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').slice(0, 100)
}
