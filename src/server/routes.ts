import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { suggestion } from '../formats/formats.ts'
import {
  type Call,
  type Caller,
  Download,
  type Operation,
  type PublicCall,
  parseInput,
  recordDeed,
  recordedAtEnd,
  requireListedPersona,
} from '../operations/operations.ts'
import { defaultLimit, readJson, readStream } from './body.ts'
import { forgetLogin, isFromConsole, keepLogin } from './console-login.ts'
import { jsonEvents, sendEvents } from './event-stream.ts'
import type { Identify, Identity } from './identity.ts'
import { jsonType } from './media-type.ts'
import { readForm } from './multipart.ts'
import { type ErrorBody, type RequestContext, sendJson } from './request-context.ts'

/** The handler of a method and a path, with the shape of its errors. */
export interface Route {
  readonly method: string
  readonly path: string
  /** An upload has no total timeout, only an idle one. */
  readonly isUpload?: boolean
  handle(context: RequestContext): void | Promise<void>
  readonly errorBody?: ErrorBody
}

/** Answers a request by its operation: authenticates, locates, reads and validates the input, runs, sends. */
export async function serveOperation(
  app: App,
  operation: Operation,
  context: RequestContext,
  identify: Identify,
): Promise<void> {
  const identity = await identify(context, operation)
  if (operation.access === 'public') {
    const call: PublicCall = { ...callParts(app, context, identity), caller: identity.caller }
    const output: unknown = await operation.run(call, parseInput(operation, await readInput(operation, context)))
    return sendOutput(operation, call, output, context, identity)
  }
  const call = callOf(app, context, identity)
  if (call.caller.key?.personas) await requireListedPersona(call, operation, context.params)
  const located = await operation.locate?.(call, context.params)
  const input = parseInput(operation, await readInput(operation, context))
  const { stream } = operation
  if (stream?.wanted(input)) {
    return whileLoggedIn(context, identity, async () => {
      const { chunks, headers } = await stream.run(call, input)
      const sent = operation.audited ? recordedAtEnd(chunks, operation, call, { input, located }) : chunks
      await sendEvents(context, sent, jsonEvents(context), headers)
    })
  }
  const output: unknown = await operation.run(call, input, located)
  await recordDeed(operation, call, { input, output, located })
  await sendOutput(operation, call, output, context, identity)
}

async function sendOutput(
  operation: Operation,
  call: PublicCall,
  output: unknown,
  context: RequestContext,
  identity: Identity,
): Promise<void> {
  if (operation.login === 'ends') forgetLogin(context)
  if (operation.login === 'opens' && isFromConsole(context, call.app.settings))
    return sendJson(context, operation.status ?? 200, keepLogin(context, output as { readonly token: string }))
  if (output instanceof Download) return whileLoggedIn(context, identity, () => sendDownload(context, output))
  if (operation.attachment)
    context.response.setHeader(
      'content-disposition',
      `attachment; filename="${safeName(operation.attachment(output))}"`,
    )
  sendJson(context, operation.status ?? 200, output)
}

/** The call of a request. Throws `unauthenticated` without a caller. */
export function callOf(app: App, context: RequestContext, identity: Identity): Call {
  const caller = callerOf(identity)
  return { ...callParts(app, context, identity), caller }
}

/** The caller of a request. Throws `unauthenticated` without one. */
export function callerOf({ caller }: Identity): Caller {
  if (caller) return caller
  throw new AppError('unauthenticated', 'A token is missing')
}

function callParts(app: App, context: RequestContext, { session, address }: Identity): Omit<PublicCall, 'caller'> {
  const { response, signal, record } = context
  return { app, session, address, signal, watch: record, header: (name, value) => void response.setHeader(name, value) }
}

/** Runs the work of a long answer, and aborts its context when the login or key ends meanwhile. */
export async function whileLoggedIn(
  context: RequestContext,
  { watch }: Identity,
  work: () => Promise<void>,
): Promise<void> {
  const unwatch = watch?.((reason) => context.abort(reason))
  try {
    await work()
  } finally {
    unwatch?.()
  }
}

async function readInput(
  operation: Operation,
  { request, params, query }: RequestContext,
): Promise<Record<string, unknown>> {
  const fromQuery = fieldsOf(query)
  const body = await readBody(operation, request)
  refuseQuery(Object.keys(fromQuery), queryOf(operation, params))
  return { ...fromQuery, ...body, ...params }
}

/** The first value of each query parameter. */
function fieldsOf(query: URLSearchParams): Record<string, unknown> {
  // Without a prototype every field is from the query, also one named `__proto__`.
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of query) if (!(name in fields)) fields[name] = value
  return fields
}

/** The query parameters that an operation declares: without a body of its own, all fields of its input but those of the path. */
function queryOf(
  { method, query = [], input }: Operation,
  params: Readonly<Record<string, string>>,
): readonly string[] {
  if (method === 'POST' || method === 'PUT' || method === 'PATCH') return query
  return Object.keys((input as z.ZodObject).shape).filter((name) => !(name in params))
}

function refuseQuery(given: readonly string[], declared: readonly string[]): void {
  const unknown = given.filter((name) => !declared.includes(name))
  if (unknown.length === 0) return
  const details = unknown.map((name) => `${name}: is not a query parameter${suggestion(name, declared)}`)
  throw new AppError('invalid', 'Invalid request', {
    details: [...details, `Query parameters: ${declared.length > 0 ? declared.join(', ') : 'none'}`],
  })
}

/** The fields of the input that are in the body. A GET has none; a DELETE may have JSON. */
async function readBody(operation: Operation, request: IncomingMessage): Promise<Record<string, unknown>> {
  const { method, upload, bodyField, limit = defaultLimit } = operation
  if (method === 'GET') return {}
  if (upload?.as === 'multipart') return { [upload.field]: await readPart(request, upload.field, limit) }
  if (upload) return { [upload.field]: readStream(request, upload.types ?? [jsonType], limit) }
  const body = await readJson(request, limit)
  if (bodyField) return { [bodyField]: body }
  if (body === undefined) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new AppError('invalid', 'The body must be a JSON object')
  return { ...body }
}

async function readPart(request: IncomingMessage, field: string, limit: number): Promise<string> {
  const form = await readForm(request, limit)
  // Clients of the earlier public implementation name the part `plugin`.
  const part = form.get(field) ?? form.get('plugin')
  if (!part) throw new AppError('invalid', 'Invalid request', { details: [`${field}: the part is missing`] })
  return part.text()
}

/** Sends a download: a stream of bytes, or all of them with their length. */
export async function sendDownload(
  { response, signal }: RequestContext,
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
