import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { H3, type H3Event, toNodeHandler } from 'h3'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/address-range.ts'
import { installationId } from '../installation-id.ts'
import type { Operation } from '../operations/operation.ts'
import { operations } from '../operations/table.ts'
import { type BodyPatience, createBodyWatch, usualPatience } from './body-watch.ts'
import { checkHost, checkOrigin } from './browser-guards.ts'
import { refusalsFor } from './dialect-errors.ts'
import { dialectRoutes } from './dialect-routes.ts'
import { createInFlight } from './in-flight.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import {
  type ErrorBody,
  errorBody,
  openRequestContext,
  type RequestContext,
  safeHeaders,
  sendError,
  sendJson,
  splitTarget,
} from './request-context.ts'
import { type Identify, type Identity, type Route, serveOperation } from './routes.ts'

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface ServerState {
  /** `starting`, `ready`, or `draining`: what GET /ready tells. */
  phase: 'starting' | 'ready' | 'draining'
}

export interface ServerParts {
  readonly app: App
  readonly version: string
  readonly identify: Identify
  readonly state: ServerState
  /** How long bodies may take; `usualPatience` where nothing is said. */
  readonly patience?: BodyPatience
  /** Told about every answer: for the log. */
  readonly observe: (context: RequestContext, route: string, status: number) => void
}

/** The main server as a function of request and response. */
export function createServer(parts: ServerParts): NodeHandler {
  const { app } = parts
  const inFlight = createInFlight(app.settings.limits)
  const identify: Identify = (context, rule) => {
    const counted = (identity: Identity) => {
      if (identity.caller) inFlight.enter(context, identity.caller.id)
      return identity
    }
    const identity = parts.identify(context, rule)
    return identity instanceof Promise ? identity.then(counted) : counted(identity)
  }
  const metrics = createMetrics(app)
  const observe: ServerParts['observe'] = (context, route, status) => {
    metrics.observe(context, route, status)
    parts.observe(context, route, status)
  }
  const dialects = dialectRoutes(app, identify)
  const routes = [
    ...serviceRoutes(parts),
    metricsRoute(metrics, identify),
    ...operations.map((operation) => operationRoute(app, operation, identify)),
    ...dialects,
  ]
  return mount({ ...parts, observe, unknown: refusalsFor(dialects) }, routes)
}

function operationRoute(app: App, operation: Operation, identify: Identify): Route {
  return {
    method: operation.method,
    path: operation.path,
    isUpload: operation.upload?.as === 'stream',
    handle: (context) => serveOperation(app, operation, context, identify),
  }
}

/** For an administrator, and for a collector on this machine that speaks to us without a proxy in between. */
function metricsRoute(metrics: Metrics, identify: Identify): Route {
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (context) => {
      const { request, response } = context
      const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined
      if (!direct || hostRange(request.socket.remoteAddress ?? '') !== 'loopback')
        await identify(context, { access: 'admin' })
      const { type, body } = await metrics.text()
      response.setHeader('content-type', type)
      response.end(body)
    },
  }
}

/** What every visitor may know: that the service lives, and where its documentation is. */
function serviceRoutes({ app, version, state }: ServerParts): readonly Route[] {
  let document: unknown
  return [
    {
      method: 'GET',
      path: '/',
      handle: async (context) =>
        sendJson(context, 200, {
          name: 'aichat-toolkit',
          needs_setup: (await app.accounts()).needsSetup(),
          installation: installationId(app.settings.paths.data),
          documentation: '/openapi.json',
          health: '/health',
        }),
    },
    { method: 'GET', path: '/health', handle: (context) => sendJson(context, 200, { status: 'ok' }) },
    {
      method: 'GET',
      path: '/ready',
      handle: (context) => sendJson(context, state.phase === 'ready' ? 200 : 503, { status: state.phase }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handle: (context) => {
        document ??= openApi(operations, version)
        sendJson(context, 200, document)
      },
    },
  ]
}

const noParams: Record<string, string> = {}

export interface MountParts
  extends Pick<ServerParts, 'app' | 'observe' | 'patience'>,
    Partial<Pick<ServerParts, 'state'>> {
  /** For an address that no route answers: the shape of the refusal, and what exists there. Undefined: the house's. */
  readonly unknown?: (
    context: RequestContext,
  ) => { readonly errorBody: ErrorBody; readonly existing: readonly string[] } | undefined
}

/** What a service that stops still answers, so that it is seen to stop. */
const answeredWhileDraining = new Set(['/health', '/ready', '/metrics'])

/**
 * Routes as a node handler: guards first, then the route, and the right refusal for a wrong path or method. A path
 * without parameters is found by itself; every other address is h3's to read.
 */
export function mount({ app, observe, unknown, state, patience }: MountParts, routes: readonly Route[]): NodeHandler {
  const watchBody = createBodyWatch(patience ?? usualPatience)
  // h3 itself refuses only what never reaches a route, such as an address that cannot be decoded.
  const h3 = new H3({
    silent: true,
    onError: ({ status }) => Response.json(refusalBody(status), { status, headers: safeHeaders }),
  })
  const paths = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, Route>()
    paths.set(route.path, methods.set(route.method, route))
  }
  for (const [path, methods] of paths) h3.all(path, (event) => node(event, path, methods))
  h3.all('/**', (event) => node(event, '', new Map()))
  const throughH3 = toNodeHandler(h3)
  const fixed = new Map([...paths].filter(([path]) => !path.includes(':')))
  const latest = new WeakMap<Socket, ServerResponse>()
  return (request, response) => {
    const { socket } = request
    const before = latest.get(socket)
    latest.set(socket, response)
    // One request of a connection after the other: those behind it are not begun for a client that has gone meanwhile.
    if (!before || before.writableFinished || before.closed) return begin(request, response)
    before.once('close', () => {
      if (!socket.destroyed) begin(request, response)
    })
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { path } = splitTarget(request.url)
    // The objects that h3 makes of a request would cost a chat 14 of its 150 µs; a fixed path needs none of them.
    const methods = fixed.get(path)
    if (methods) void answer(request, response, noParams, path, methods)
    else void throughH3(request, response)
  }

  function node(event: H3Event, path: string, methods: ReadonlyMap<string, Route>): Promise<never> {
    const { req, res } = event.runtime!.node!
    void answer(req as IncomingMessage, res as ServerResponse, event.context.params ?? {}, path, methods)
    // The answer is written here; h3 would write, and end, a second one as soon as this promise settled.
    return new Promise<never>(() => {})
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    encoded: Record<string, string>,
    path: string,
    methods: ReadonlyMap<string, Route>,
  ): Promise<void> {
    const params: Record<string, string> = {}
    const context = openRequestContext(request, response, params, () => observe(context, path, response.statusCode))
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
    const route = methods.get(method)
    try {
      watchBody(request, route?.isUpload === true)
      if (state?.phase === 'draining' && !answeredWhileDraining.has(path)) throw draining(context)
      checkHost(context, app.settings)
      if (checkOrigin(context, app.settings)) return
      for (const name in encoded) params[name] = decoded(encoded[name]!)
      if (!route) throw noRoute(context, methods, unknown)
      await route.handle(context)
    } catch (thrown) {
      sendError(context, thrown, route ? route.errorBody : unknown?.(context)?.errorBody)
    }
  }
}

function draining({ response }: RequestContext): AppError {
  response.setHeader('connection', 'close')
  return new AppError('unavailable', 'This server is stopping', { retryAfter: 5 })
}

function refusalBody(status: number): Record<string, unknown> {
  return errorBody(
    status < 500
      ? new AppError('invalid', 'The request cannot be read')
      : new AppError('internal', 'Internal server error'),
    randomUUID(),
  )
}

function noRoute(
  context: RequestContext,
  methods: ReadonlyMap<string, Route>,
  unknown: MountParts['unknown'],
): AppError {
  const { response } = context
  if (methods.size === 0) return new AppError('not_found', 'Not found', { details: unknown?.(context)?.existing ?? [] })
  const allowed = [...methods.keys()].join(', ')
  response.setHeader('allow', allowed)
  return new AppError('method_not_allowed', 'Method not allowed', { details: [`Allowed here: ${allowed}`] })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new AppError('invalid', 'The address holds a broken escape', { cause })
  }
}
