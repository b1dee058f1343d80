import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from 'listhen'
import { AppError } from '../errors.ts'
import { serviceUrl } from '../http/service-url.ts'
import type { NodeHandler } from './http-server.ts'

/** A server that listens. */
export interface Listening {
  /** Such as http://127.0.0.1:3001. */
  readonly url: string
  /** Where it can be reached on this machine: another address only where it listens on all of them. */
  readonly localUrl: string
  readonly host: string
  readonly port: number
  /**
   * Resolves when the answers now in flight are out, at the latest after the grace (milliseconds). It goes on listening, so
   * that it can be asked how it is; every answer from here on ends its connection.
   */
  finish(graceMs: number): Promise<void>
  /** Stops listening, and cuts what is still in flight. */
  close(): Promise<void>
}

/** A server that wants to listen. */
export interface Place {
  /** Which one it is, as `serve` calls it. */
  readonly name: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The flag that gives it another port. */
  readonly portFlag: string
}

/**
 * Listens on exactly this host and port. Throws `unavailable` when the port is taken, saying by whom when that is an
 * aichat.
 */
export async function openServer(handler: NodeHandler, place: Place): Promise<Listening> {
  const { host, port } = place
  const listener = await listen(() => {}, {
    // listhen's own defaults pick another port when this one is taken, print a banner to stdout, and end the process on a
    // signal without waiting for answers in flight.
    hostname: host,
    port: port === 0 ? { port: 0, random: true, host } : { port, host, portRange: [port, port], ports: [] },
    showURL: false,
    open: false,
    clipboard: false,
    qr: false,
    public: false,
    tunnel: false,
    isProd: true,
    isTest: false,
    autoClose: false,
  }).catch(async (reason: Error) => {
    throw await explain(reason, place)
  })
  const server = listener.server as Server
  // Its shutdown helper keeps a listener of its own that throws when a request's body was cancelled: only ours stays.
  server.removeAllListeners('request')
  const answering = new Set<ServerResponse>()
  server.on('request', (request, response) => {
    const forget = () => answering.delete(response)
    answering.add(response)
    response.once('close', forget)
    // One that waits behind another on its connection is not told when that ends.
    if (!response.socket) request.socket.once('close', forget)
    void handler(request, response)
  })
  hearLateRequests(server)
  keepWhatIsUsed(server)
  server.headersTimeout = 10_000
  // Bodies are watched one by one (body-watch.ts): an upload may take longer than any fixed time.
  server.requestTimeout = 0
  server.keepAliveTimeout = idleConnectionMs
  server.maxConnections = 10_000
  const address = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${shown}:${address.port}`,
    localUrl: serviceUrl(host, address.port),
    host,
    port: address.port,
    finish: (graceMs) => finish(server, [...answering], graceMs),
    close: () => close(server),
  }
}

/**
 * How long a connection may be idle, in milliseconds: longer than clients pool theirs (Python's httpx 5 s, aiohttp 15 s, nginx 60 s),
 * so that none is ended under a request that is on its way. undici keeps to the announced time, and sees it late in a busy process.
 */
const idleConnectionMs = 75_000

/** How long bytes that came while the event loop was held up may take to be read once it turns again: milliseconds. */
const secondChanceMs = 1_000

/**
 * Has a request that came in time answered, also where it was read too late. Node judges by the clock before it reads: where the
 * event loop stood still for longer than `headersTimeout`, it would answer 408 to a request whose bytes have long been there. A
 * connection is given a second in which they are read; one that has said nothing whole by then is answered with 408 and ends.
 */
export function hearLateRequests(server: Server): void {
  const heard = new WeakMap<object, number>()
  const timesHeard = (socket: object) => heard.get(socket) ?? 0
  server.prependListener('request', ({ socket }) => void heard.set(socket, timesHeard(socket) + 1))
  server.on('clientError', (reason: NodeJS.ErrnoException, socket: Socket) => {
    if (reason.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(reason, socket)
    const before = timesHeard(socket)
    const judge = () => {
      if (timesHeard(socket) === before) refuse(reason, socket)
    }
    // What is there is read between the timers and this.
    setTimeout(() => setImmediate(judge), secondChanceMs).unref()
  })
}

/**
 * Ends an idle connection only where no request came on it in time. Node ends it by the clock before it reads: where the event
 * loop or the whole process stood still, a client would be cut off whose next request has long been there.
 */
export function keepWhatIsUsed(server: Server): void {
  server.on('timeout', (socket: Socket) => {
    const before = socket.bytesRead
    const judge = () => {
      if (socket.bytesRead === before) socket.destroy()
    }
    // The loop reads between the two.
    setImmediate(() => setImmediate(judge))
  })
}

/** As Node does where nobody listens. */
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
  const patience = new AbortController()
  const ended = answers.filter((answer) => !answer.closed).map((answer) => once(answer, 'close'))
  await Promise.race([Promise.all(ended), sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {})])
  patience.abort()
}

/** How long an answer about the service itself may take once all others are out: milliseconds. */
const lastAnswersMs = 500

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const patience = new AbortController()
  const late = sleep(lastAnswersMs, undefined, { signal: patience.signal })
  await Promise.race([closed, late.then(() => server.closeAllConnections())])
  await closed
  patience.abort()
  await late.catch(() => {})
}

async function explain(reason: Error, { name, host, port, portFlag }: Place): Promise<AppError> {
  const code = reason.name === 'GetPortError' ? await refusal(host, port) : (reason as NodeJS.ErrnoException).code
  if (code === 'EACCES')
    return new AppError('unavailable', `The port ${port} needs more rights than this user has`, { cause: reason })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new AppError('unavailable', `This machine has no address ${host}`, { cause: reason })
  if (code !== 'EADDRINUSE') return new AppError('unavailable', `Cannot listen on ${host}:${port}`, { cause: reason })
  const who = await whoServes(host, port)
  return new AppError(
    'unavailable',
    `The port ${port} is taken, so ${name} cannot start${who ? `: ${who} serves there already` : ''}`,
    {
      details: [
        who ? 'Use it with --server, or stop it first' : `ss -ltnp 'sport = :${port}' shows who has it`,
        `or choose another port: ${portFlag}`,
      ],
      cause: reason,
    },
  )
}

/** listhen says only that it found no port; the system's own word is had by asking once more. */
async function refusal(host: string, port: number): Promise<string | undefined> {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, 'listening')
    return undefined
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code
  } finally {
    probe.close()
  }
}

/** Our own daemon or speech server on a port that we wanted, asked by name. */
async function whoServes(host: string, port: number): Promise<string | undefined> {
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
