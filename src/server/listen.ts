import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { listen } from 'listhen'
import { AppError } from '../errors.ts'
import { serviceUrl } from '../service-url.ts'
import type { NodeHandler } from './app.ts'

/** A server that listens. */
export interface Listening {
  /** Such as http://127.0.0.1:3001. */
  readonly url: string
  readonly host: string
  readonly port: number
  /**
   * Stops: no new connection, idle ones closed, answers in flight finished within the grace (milliseconds), then cut.
   */
  close(graceMs: number): Promise<void>
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
  server.on('request', (request, response) => void handler(request, response))
  server.headersTimeout = 10_000
  server.requestTimeout = 300_000
  server.keepAliveTimeout = 5_000
  server.maxConnections = 10_000
  const address = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${shown}:${address.port}`,
    host,
    port: address.port,
    close: (graceMs) => drain(server, graceMs),
  }
}

async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  // Every answer from here on says that its connection ends; idle connections end now and again as they become idle.
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  server.close()
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
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
