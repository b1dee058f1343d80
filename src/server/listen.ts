import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, Server as SecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { listen } from 'listhen'
import { AppError } from '../errors.ts'
import { serviceUrl } from '../http/http.ts'
import { Bag, within } from '../process/process.ts'
import { serveExpectations } from './expectations.ts'
import type { NodeHandler } from './http-server.ts'

export interface Listening {
  /** Such as http://127.0.0.1:3001. */
  readonly url: string
  /** The address on this machine; differs from `url` only where the server binds all addresses. */
  readonly localUrl: string
  readonly host: string
  readonly port: number
  /**
   * Resolves when the answers in flight are complete, at the latest after the grace period (milliseconds). The server still
   * answers health checks; every further answer closes its connection.
   */
  finish(graceMs: number): Promise<void>
  /** Stops listening, and cuts the answers in flight. */
  close(): Promise<void>
  /** Another certificate for connections from now on; no effect without TLS. */
  replaceTls(pair: SecureContextOptions): void
}

export interface ListenOptions {
  readonly name: string
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** The flag for another port. */
  readonly portFlag: string
  readonly tls?: SecureContextOptions | undefined
  /** Names the service of this data folder that has a port. */
  readonly ownAt?: (port: number) => string | undefined
}

/** Listens on this host and port alone. Throws `usage` for a blocked port, `unavailable` for one that is taken. */
export async function openServer(handler: NodeHandler, options: ListenOptions): Promise<Listening> {
  const { host, port } = options
  // listhen would take another port instead of one of these, and say so on stdout.
  refuseBlocked(options)
  const server = await (options.tls ? listenSecurely({ host, port }, options.tls) : listenPlainly(host, port)).catch(
    async (reason: Error) => {
      throw await listenFailure(reason, options)
    },
  )
  const addresses = addressesOf(server, options)
  const answering = answerBy(server, handler)
  return {
    ...addresses,
    finish: (graceMs) => finish(server, answering.items(), graceMs),
    close: () => close(server),
    replaceTls: (pair) => replaceTlsOf(server, pair),
  }
}

/** Throws `unavailable`, naming each of these addresses that cannot be had; it leaves those free that can. */
export async function refuseTaken(places: readonly ListenOptions[]): Promise<void> {
  const failures: AppError[] = []
  for (const place of places) {
    const code = await bindFailure(place.host, place.port)
    if (code) failures.push(await listenFailure(Object.assign(new Error(code), { code }), place))
  }
  if (failures.length < 2) {
    if (failures[0]) throw failures[0]
    return
  }
  const details = failures.flatMap(({ message, details: lines }) => [message, ...lines.map((line) => `  ${line}`)])
  throw new AppError('unavailable', `${failures.length} servers cannot start`, { details })
}

/** Listens for workers: hands each connection over unread. Finishes no answers and speaks no TLS; workers do. */
export async function openDealtServer(
  deal: (socket: Socket) => void,
  options: ListenOptions,
): Promise<Omit<Listening, 'finish'>> {
  const { host, port } = options
  refuseBlocked(options)
  const server = createTcpServer({ pauseOnConnect: true, noDelay: true }, deal)
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (reason) {
    throw await listenFailure(reason as Error, options)
  }
  return {
    ...addressesOf(server, options),
    async close() {
      // It listens no more at once. Node would tell of its end when every process that got a socket says so, and one that
      // was killed says nothing.
      server.close()
    },
    replaceTls() {},
  }
}

/** Makes the server of a worker, without a port: it answers on the connections that the owner of the port gives it. */
export function createDealtServer(handler: NodeHandler, tls: SecureContextOptions | undefined) {
  const server = createOwnServer(tls)
  const answering = answerBy(server, handler)
  // Node begins to check the timeouts of connections when a server listens.
  server.emit('listening')
  return {
    take(socket: Socket) {
      // As those that a server of HTTP accepts itself: a client may end its side after its request.
      socket.allowHalfOpen = true
      server.emit('connection', socket)
    },
    finish: (graceMs: number) => finish(server, answering.items(), graceMs),
    async close() {
      server.close()
      server.closeIdleConnections()
      const last = answering.items().map((answer) => answer.closed || once(answer, 'close'))
      await within(Promise.all(last), lastAnswersMs)
      server.closeAllConnections()
    },
    replaceTls: (pair: SecureContextOptions) => replaceTlsOf(server, pair),
  }
}

function refuseBlocked({ port, portFlag }: ListenOptions): void {
  if (isBlockedPort(port))
    throw new AppError('usage', `Invalid port ${port}: browsers block it, choose another with ${portFlag}`)
}

/** Has a server answer by the handler, with the timeouts of this service; the answers under way are in the bag. */
function answerBy(server: Server, handler: NodeHandler): Bag<ServerResponse> {
  const answering = new Bag<ServerResponse>()
  server.on('request', (request, response) => {
    const kept = answering.add(response)
    const forget = () => answering.remove(kept)
    response.once('close', forget)
    // A pipelined response without a socket yet gets no `close` event when the connection ends.
    if (!response.socket) request.socket.once('close', forget)
    void handler(request, response)
  })
  serveExpectations(server)
  acceptLateRequests(server)
  keepUsedConnections(server)
  answerHalfClosed(server)
  server.headersTimeout = 10_000
  // Each body has its own timeouts (body-watch.ts): an upload may take longer than any fixed time.
  server.requestTimeout = 0
  server.keepAliveTimeout = idleConnectionMs
  server.maxConnections = 10_000
  return answering
}

function replaceTlsOf(server: Server, pair: SecureContextOptions): void {
  if (server instanceof SecureServer) server.setSecureContext(pair)
}

function addressesOf(
  server: Pick<Server, 'address'>,
  { host, tls }: ListenOptions,
): Pick<Listening, 'url' | 'localUrl' | 'host' | 'port'> {
  const { port } = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  const scheme = tls ? 'https' : 'http'
  return {
    url: `${scheme}://${shown}:${port}`,
    localUrl: serviceUrl(host, port, scheme),
    host,
    port,
  }
}

/** Listens by listhen, without its banner, its other ports and its handling of signals. */
async function listenPlainly(host: string, port: number): Promise<Server> {
  const listener = await listen(() => {}, {
    // The defaults of listhen pick another port when this one is taken, print a banner to stdout, and end the process on a
    // signal without waiting for answers in flight.
    hostname: host,
    port: {
      host,
      verbose: false,
      ...(port === 0 ? { port, random: true } : { port, portRange: [port, port], ports: [] }),
    },
    showURL: false,
    open: false,
    clipboard: false,
    qr: false,
    public: false,
    tunnel: false,
    isProd: true,
    isTest: false,
    autoClose: false,
  })
  const server = listener.server as Server
  // Removes the listener of listhen's shutdown helper, which throws when a request's body was cancelled.
  server.removeAllListeners('request')
  return server
}

/** How long buffered bytes may take to be read once the event loop runs again: milliseconds. */
const lateReadMs = 1_000

/**
 * Milliseconds that a connection may be idle: longer than clients keep theirs (Python's httpx 5 s, aiohttp 15 s, nginx 60 s),
 * so that none is closed under a request that is on its way.
 */
const idleConnectionMs = 75_000

/**
 * Answers a request that arrived in time but was read too late. Node checks `headersTimeout` before it reads: after a longer
 * block of the event loop it would answer 408 to a request that is already in the socket's buffer. Waits a second for it to
 * be read; a connection without a complete request by then is answered with 408 and closed.
 */
export function acceptLateRequests(server: Server): void {
  const counts = new WeakMap<object, number>()
  const requestsOn = (socket: object) => counts.get(socket) ?? 0
  server.prependListener('request', ({ socket }) => void counts.set(socket, requestsOn(socket) + 1))
  server.on('clientError', (reason: NodeJS.ErrnoException, socket: Socket) => {
    if (reason.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(reason, socket)
    const before = requestsOn(socket)
    const check = () => {
      if (requestsOn(socket) === before) refuse(reason, socket)
    }
    // The poll phase, which reads buffered bytes, runs between timers and immediates.
    setTimeout(() => setImmediate(check), lateReadMs).unref()
  })
}

/**
 * Closes an idle connection only when no request came on it in time. Node checks `keepAliveTimeout` before it reads:
 * after a block of the event loop it would close a connection with its next request already in the socket's buffer.
 */
export function keepUsedConnections(server: Server): void {
  server.on('timeout', (socket: Socket) => {
    const before = socket.bytesRead
    const check = () => {
      if (socket.bytesRead === before) socket.destroy()
    }
    // The poll phase, which reads buffered bytes, runs between two immediates.
    setImmediate(() => setImmediate(check))
  })
}

/** How long the answer to a client that has ended its side may take: milliseconds. */
const halfClosedMs = 10_000

/**
 * Answers reads of a client that ends its side of the connection behind its request, as `nc -N` and socat do; Node drops
 * them. Any other request ends with that side, which is all that is seen of a client that has gone: a model would go on
 * answering, and its provider be paid.
 */
export function answerHalfClosed(server: Server): void {
  const methods = new WeakMap<Socket, string | undefined>()
  // Not in Node's documentation: without it Node ends the connection with its client's side (lib/_http_server.js).
  Object.assign(server, { httpAllowHalfOpen: true })
  server.prependListener('request', ({ socket, method }) => {
    if (!methods.has(socket)) socket.once('end', () => ended(socket))
    methods.set(socket, method)
  })

  function ended(socket: Socket): void {
    const method = methods.get(socket)
    if (method !== 'GET' && method !== 'HEAD') return void socket.end()
    const timer = setTimeout(() => socket.destroy(), halfClosedMs).unref()
    socket.once('close', () => clearTimeout(timer))
  }
}

/** Node's default for `clientError`. */
function refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const status = refusals[code ?? ''] ?? '400 Bad Request'
  if (socket.writable && socket.bytesWritten === 0) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
  socket.destroy()
}

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

async function finish(server: Server, answers: readonly ServerResponse[], graceMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  server.closeIdleConnections()
  for (const answer of answers) if (!answer.headersSent) answer.setHeader('connection', 'close')
  const ended = answers.filter((answer) => !answer.closed).map((answer) => once(answer, 'close'))
  await within(Promise.all(ended), graceMs)
}

/** How long health checks may take once all other answers are complete: milliseconds. */
const lastAnswersMs = 500

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  if (!(await within(closed, lastAnswersMs))) server.closeAllConnections()
  await closed
}

async function listenFailure(reason: Error, options: ListenOptions): Promise<AppError> {
  const { name, host, port, portFlag } = options
  const code = reason.name === 'GetPortError' ? await bindFailure(host, port) : (reason as NodeJS.ErrnoException).code
  if (code === 'EACCES')
    return new AppError('unavailable', `Port ${port} needs more rights than this user has`, { cause: reason })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new AppError('unavailable', `This machine has no address ${host}`, { cause: reason })
  if (code !== 'EADDRINUSE') return new AppError('unavailable', `Cannot listen on ${host}:${port}`, { cause: reason })
  const program = options.ownAt?.(port) ?? (await programAt(host, port))
  return new AppError(
    'unavailable',
    `The port ${port} is taken, so ${name} cannot start${program ? `: ${program} serves there already` : ''}`,
    {
      details: [
        program
          ? 'Use it with --server, or stop it first'
          : `ss -ltnp 'sport = :${port}' shows the program that has it`,
        `or choose another port: ${portFlag}`,
      ],
      cause: reason,
    },
  )
}

/** The error code of a second attempt to bind: listhen only reports that it found no port. */
async function bindFailure(host: string, port: number): Promise<string | undefined> {
  const probe = createTcpServer().listen(port, host)
  try {
    await once(probe, 'listening')
    return undefined
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code
  } finally {
    probe.close()
  }
}

/** The aichat that listens on a port; undefined for another program. */
async function programAt(host: string, port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`${serviceUrl(host, port)}/`, {
      signal: AbortSignal.timeout(1000),
      redirect: 'manual',
    })
    const body: unknown = await response.json()
    const { name, server } = body as { name?: unknown; server?: unknown }
    if (name !== 'aichat-toolkit') return undefined
    return typeof server === 'string' ? `the ${server} of an aichat` : 'aichat'
  } catch {
    return undefined
  }
}

/** Ports that no browser calls, by the standard of `fetch` (https://fetch.spec.whatwg.org/#port-blocking). */
const blocked: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** True for a port of another protocol (6000 for X11, 6667 for IRC …), which browsers and `fetch` refuse to call. */
export function isBlockedPort(port: number): boolean {
  return blocked.has(port)
}

/** How long a client may take for its TLS handshake: milliseconds, as for its headers. */
const handshakeMs = 10_000

/** A server that does not listen yet. */
function createOwnServer(tls: SecureContextOptions | undefined): Server {
  return tls
    ? createSecureServer({ ...tls, handshakeTimeout: handshakeMs, ALPNProtocols: ['http/1.1'] })
    : createServer()
}

/** A server for the case that listhen does not cover: https with a certificate that changes. */
async function listenSecurely(where: Pick<ListenOptions, 'host' | 'port'>, tls: SecureContextOptions): Promise<Server> {
  const server = createOwnServer(tls)
  server.listen(where)
  await once(server, 'listening')
  return server
}
