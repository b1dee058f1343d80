import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { H3, type H3Event, toNodeHandler } from 'h3'
import type { Origin } from '../accounts/accounts.ts'
import { type App, databaseState, instanceName } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { hopHeader } from '../http/http.ts'
import { installationId } from '../installation-id.ts'
import { type Operation, operations } from '../operations/operations.ts'
import type { Bag } from '../process/process.ts'
import { type BodyTimeouts, createBodyWatch, usualBodyTimeouts } from './body-watch.ts'
import { checkHost, checkOrigin } from './browser-guards.ts'
import { consolePath, consoleRoutes, redirect, wantsPage } from './console-routes.ts'
import { refusalsFor } from './dialect-errors.ts'
import { dialectRoutes } from './dialect-routes.ts'
import { refuseExpectation } from './expectations.ts'
import type { HttpCounts } from './http-metrics.ts'
import type { Identify } from './identity.ts'
import { limitInFlight } from './in-flight.ts'
import { mcpRoutes } from './mcp-routes.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { metricsRoute } from './metrics-route.ts'
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
import type { Observe } from './request-log.ts'
import { type Route, serveOperation } from './routes.ts'

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface ServerState {
  /** Reported by GET /ready. */
  phase: 'starting' | 'ready' | 'draining'
  /** The requests under way, which are cut at the end of the drain. */
  readonly open?: Bag<RequestContext>
}

export interface ServerParts {
  readonly app: App
  readonly version: string
  readonly identify: Identify
  readonly state: ServerState
  /** Default `usualBodyTimeouts`. */
  readonly bodyTimeouts?: BodyTimeouts
  /** Shared by the servers of a process; by default this server's own. */
  readonly metrics?: Metrics
  /** Finds the client of a request, for the log. */
  readonly origin?: (request: IncomingMessage) => Pick<Origin, 'address'>
  /** Called after every answer, for the log. */
  readonly observe: Observe
}

/** The main server as a function of request and response. */
export function createServer(parts: ServerParts): NodeHandler {
  const { app } = parts
  const identify = limitInFlight(parts.identify, () => app.settings.limits)
  const { metrics = createMetrics(app, parts.version) } = parts
  const dialects = dialectRoutes(app, identify)
  const routes = [
    ...serviceRoutes(parts),
    ...(app.settings.console ? consoleRoutes() : []),
    metricsRoute(metrics, identify),
    ...operations.map((operation) => operationRoute(app, operation, identify)),
    ...dialects,
    ...mcpRoutes(app, identify),
  ]
  return mount({ ...parts, http: metrics.http('api'), unknown: refusalsFor(dialects) }, routes)
}

function operationRoute(app: App, operation: Operation, identify: Identify): Route {
  return {
    method: operation.method,
    path: operation.path,
    isUpload: operation.upload?.as === 'stream',
    handle: (context) => serveOperation(app, operation, context, identify),
  }
}

/** The public routes: name, health, readiness, and the OpenAPI document. */
function serviceRoutes({ app, version, state }: ServerParts): readonly Route[] {
  let document: unknown
  return [
    {
      method: 'GET',
      path: '/',
      handle: async (context) => {
        if (app.settings.console && wantsPage(context)) return redirect(context, consolePath)
        sendJson(context, 200, {
          name: 'aichat-toolkit',
          needs_setup: await (await app.accounts()).needsSetup(),
          installation: app.database?.id ?? installationId(app.settings),
          documentation: '/openapi.json',
          health: '/health',
        })
      },
    },
    {
      method: 'GET',
      path: '/health',
      handle: (context) => {
        const database = databaseState(app)
        // Anyone may ask: the name would tell the database's user, host and port.
        const reachable = database && { database: { reachable: database.reachable } }
        sendJson(context, 200, { status: 'ok', ...(reachable && { instance: instanceName(app), ...reachable }) })
      },
    },
    {
      method: 'GET',
      path: '/ready',
      handle: (context) => {
        const isLost = app.database?.isUsable() === false
        const status = state.phase === 'ready' && isLost ? 'database_away' : state.phase
        sendJson(context, status === 'ready' ? 200 : 503, { status })
      },
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
  extends Pick<ServerParts, 'app' | 'observe' | 'bodyTimeouts' | 'metrics' | 'origin'>,
    Partial<Pick<ServerParts, 'state'>> {
  readonly http?: HttpCounts
  /** The error shape of an address without a route, and the routes to name in it; undefined for the shape of /api. */
  readonly unknown?: (
    context: RequestContext,
  ) => { readonly errorBody: ErrorBody; readonly existing: readonly string[] } | undefined
}

/** Still answered while the service stops, so that monitoring sees it stop. */
const answeredWhileDraining = new Set(['/health', '/ready', '/metrics'])

/** Routes as a node handler: guards, then the route, 404 or 405. Plain paths by a map, others by h3. */
export function mount(
  { app, observe, http, origin, unknown, state, bodyTimeouts }: MountParts,
  routes: readonly Route[],
): NodeHandler {
  const watchBody = createBodyWatch(bodyTimeouts ?? usualBodyTimeouts)
  // h3 itself only refuses addresses that it cannot decode.
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
    // Serves pipelined requests one by one, so that none starts after its client has disconnected.
    if (!before || before.writableFinished || before.closed) return begin(request, response)
    before.once('close', () => {
      if (!socket.destroyed) begin(request, response)
    })
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { path } = splitTarget(request.url)
    // The objects that h3 creates for a request would cost a chat 14 of its 150 µs.
    const methods = fixed.get(path)
    if (methods) void answer(request, response, noParams, path, methods)
    else void throughH3(request, response)
  }

  function node(event: H3Event, path: string, methods: ReadonlyMap<string, Route>): Promise<never> {
    const { req, res } = event.runtime!.node!
    void answer(req as IncomingMessage, res as ServerResponse, event.context.params ?? {}, path, methods)
    // `answer` writes the response; h3 would write a second one as soon as this promise settled.
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
    const context = openRequestContext(request, response, params, () => {
      if (kept) state!.open!.remove(kept)
      const { statusCode: status } = response
      http?.ended(context, path, status)
      observe(context, path, status)
    })
    const kept = state?.open?.add(context)
    const { record } = context
    http?.begun()
    // Read now: a closed connection has no address.
    record.client = origin?.(request).address
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
    const route = methods.get(method)
    try {
      watchBody(request, route?.isUpload === true)
      if (state?.phase === 'draining' && !answeredWhileDraining.has(path)) throw draining(context)
      checkHost(context, app.settings)
      refuseOwnHop(request, app)
      if (checkOrigin(context, app.settings)) return
      refuseExpectation(request)
      for (const name in encoded) params[name] = decoded(encoded[name]!)
      if (!route) throw noRoute(context, methods, unknown)
      await route.handle(context)
    } catch (thrown) {
      sendError(context, thrown, route ? route.errorBody : unknown?.(context)?.errorBody)
    }
  }
}

/** Refuses a request that an instance of this installation sent to a provider, which is this installation itself. */
function refuseOwnHop({ headers }: IncomingMessage, { database }: Pick<App, 'database'>): void {
  if (database && headers[hopHeader] === database.id)
    throw new AppError(
      'configuration',
      'This request comes from this installation itself: one of its plugins points at it',
      {
        details: ['Correct the endpoint of the plugin that was asked: aichat plugin list'],
      },
    )
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
    throw new AppError('invalid', 'Invalid escape in the address', { cause })
  }
}
