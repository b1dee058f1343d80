import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { AppError } from '../errors.ts'
import { addressRange, type HttpRequest, hopHeader, hostRange, isLocalName } from '../http/http.ts'
import { openResponse } from './response.ts'

export type HttpClient = ReturnType<typeof openHttpClient>

export interface HttpClientOptions {
  readonly allowPrivate: boolean
  /** Ports of this machine that are never called: where this process itself listens. */
  readonly ownPorts?: ReadonlySet<number>
  /** The id of this installation, sent to every host: its other instances refuse requests that would loop. */
  readonly hop?: string | undefined
  /** Bytes instead of `defaultLongestBody`, for readers of files, which count themselves. */
  readonly longestBody?: number
  /** Finds the addresses of a name; the system's resolver where nothing else is given. */
  readonly resolve?: Resolve
}

/** As `lookup` of node:dns, asked for all addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A longer body is cut off: bytes. */
const defaultLongestBody = 64 * 1024 * 1024

/** Connections to one host at once: each stream holds one, so that a thousand streams need a thousand. */
const mostConnections = 4096

/** Leaves the time of an exchange to response.ts. */
const untimed = { headersTimeout: 0, bodyTimeout: 0 }
const unending = { firstByte: Number.POSITIVE_INFINITY, idle: Number.POSITIVE_INFINITY }

/** The parts of a URL that a connection needs. */
type Place = ReturnType<typeof readAddress>

/** How many addresses are remembered as read. */
const mostPlaces = 500

/**
 * The one way out: HTTP with kept connections. Follows no redirect, since a redirect would carry a key to another host.
 * Every address that is dialled is checked, also those a name resolves to: never link-local or metadata addresses, and
 * private ones only where `allowPrivate` returns true.
 */
export function openHttpClient(options: HttpClientOptions) {
  const { allowPrivate, ownPorts, hop, longestBody = defaultLongestBody, resolve = systemLookup } = options
  // The connect timeout belongs to the pool, so there is a pool for each one in use; in practice there is one.
  const agents = new Map<number, Agent>()
  const places = new Map<string, Place>()

  return {
    send(request: HttpRequest) {
      const { origin, path, host, hostname, port, range } = placeOf(request.url)
      refuse(range, hostname)
      if (range !== 'public' && ownPorts?.has(port))
        throw new AppError('configuration', `${host} is this aichat itself`)
      const sent = {
        origin,
        path,
        method: request.method,
        headers: hop === undefined ? request.headers : { ...request.headers, [hopHeader]: hop },
        body: request.body ?? null,
      }
      const agent = agentFor(request.timeouts.connect)
      if (!(request.body instanceof Readable)) return openResponse(agent, { ...sent, ...untimed }, request)
      // undici alone knows how much of a body that is still being read has been sent.
      const { firstByte: headersTimeout, idle: bodyTimeout } = request.timeouts
      return openResponse(agent, { ...sent, headersTimeout, bodyTimeout }, { ...request, timeouts: unending })
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }

  /** Addresses repeat: most of a daemon's requests go to a handful. */
  function placeOf(address: string): Place {
    let place = places.get(address)
    if (!place) {
      place = readAddress(address)
      if (places.size >= mostPlaces) places.clear()
      places.set(address, place)
    }
    return place
  }

  function agentFor(connectMs: number): Agent {
    let agent = agents.get(connectMs)
    if (!agent) {
      agent = new Agent({
        connections: mostConnections,
        pipelining: 1,
        keepAliveTimeout: 30_000,
        maxHeaderSize: 16 * 1024,
        maxResponseSize: longestBody,
        connect: { timeout: connectMs, lookup: judgedLookup },
      })
      agents.set(connectMs, agent)
    }
    return agent
  }

  function refuse(range: ReturnType<typeof addressRange>, host: string): void {
    if (range === 'forbidden')
      throw new AppError(
        'configuration',
        `${host} is a link-local, metadata or reserved address, which is never called`,
      )
    if (range !== 'public' && !allowPrivate)
      throw new AppError('configuration', `${host} is a private address; these are switched off (PLUGIN_ALLOW_PRIVATE)`)
  }

  /** As `lookup` of node:dns, but a name that leads to a forbidden address leads nowhere. */
  function judgedLookup(hostname: string, options: LookupOptions, done: Parameters<LookupFunction>[2]): void {
    const find = isLocalName(hostname) ? thisMachine : resolve
    find(hostname, { ...options, all: true }, (error, addresses) => {
      try {
        if (error) throw error
        for (const { address } of addresses) refuse(addressRange(address), hostname)
        if (options.all) done(null, addresses)
        else done(null, addresses[0]!.address, addresses[0]!.family)
      } catch (reason) {
        done(reason as NodeJS.ErrnoException, [])
      }
    })
  }
}

/** The addresses of localhost and the names below it. Keys travel there unencrypted, so no resolver has a say in it. */
const thisMachine: Resolve = (_hostname, { family }, done) => {
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  // Its caller expects the answer later, as a resolver gives it.
  process.nextTick(() => done(null, family === 4 || family === 6 ? both.filter((one) => one.family === family) : both))
}

function readAddress(address: string) {
  const { origin, pathname, search, host, hostname, port } = new URL(address)
  return { origin, path: pathname + search, host, hostname, port: Number(port), range: hostRange(hostname) }
}
