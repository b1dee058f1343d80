import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/http.ts'
import type { Settings } from '../settings/settings.ts'
import { isRepeated, type RequestContext, targetHost } from './request-context.ts'

/**
 * Guards against DNS rebinding: refuses a Host that is not a name of this server. IP literals pass, since only names can be
 * rebound, except 0.0.0.0 and [::], which browsers do not treat as private addresses.
 */
export function checkHost({ request }: RequestContext, settings: Settings): void {
  // RFC 9112, section 3.2: a request with two hosts is invalid.
  if (isRepeated(request, 'host')) throw new AppError('invalid', 'The request has two Host headers')
  const named = targetHost(request.url)
  if (named !== undefined && !isOwnName(hostOf(named), settings)) throw unknownHost()
  // No browser leaves the header out, and HTTP/1.0 has none: balancers ask for /ready without one. Node refuses HTTP/1.1 so.
  if (request.headers.host === undefined) return
  if (isOwnName(hostOf(request.headers.host ?? ''), settings)) return
  throw unknownHost()
}

function unknownHost(): AppError {
  return new AppError('forbidden', 'Unknown host name', {
    details: ['Use localhost or the address of the machine, or add the name to PUBLIC_HOSTS'],
  })
}

function isOwnName(host: ReadHost | undefined, { listen, publicHosts }: Settings): boolean {
  if (host === undefined) return false
  const { name, isOwn } = host
  return isOwn ?? (name === listen.host.toLowerCase() || publicHosts.includes(name))
}

/** A host as far as no setting has a say: `isOwn` is undefined where the settings decide. */
interface ReadHost {
  readonly name: string
  readonly isOwn: boolean | undefined
}

/** Clients send the same Host all the time, and to read one costs 4 of a chat's 250 µs. */
const hosts = new Map<string, ReadHost | undefined>()
const mostHosts = 500
/** Characters: a longer one is no name (RFC 1035, section 2.3.4), and is not kept. */
const longestHost = 300

function hostOf(authority: string): ReadHost | undefined {
  if (hosts.has(authority)) return hosts.get(authority)
  const host = readHost(authority)
  if (authority.length > longestHost) return host
  if (hosts.size >= mostHosts) hosts.clear()
  hosts.set(authority, host)
  return host
}

function readHost(authority: string): ReadHost | undefined {
  const name = hostnameOf(authority)
  if (name === undefined) return undefined
  const address = name.replace(/^\[|\]$/g, '')
  if (isIP(address)) return { name, isOwn: !isUnspecified(address) }
  return { name, isOwn: hostRange(name) === 'loopback' ? true : undefined }
}

/** The host name of a Host header or an origin, normalised as in a URL: `0` and `[::0]` are written out. Undefined for an invalid one. */
function hostnameOf(authority: string): string | undefined {
  if (!/^[\w.\-:[\]]+$/.test(authority) || !URL.canParse(`http://${authority}`)) return undefined
  return new URL(`http://${authority}`).hostname
}

/** 0.0.0.0, ::, and the first in an IPv6 spelling. */
function isUnspecified(address: string): boolean {
  return /^(?:0\.0\.0\.0|::|::ffff:0:0)$/.test(address)
}

const exposedHeaders = [
  'Retry-After, RateLimit, RateLimit-Policy, X-Should-Retry, X-Request-Id, Request-Id',
  'X-Aichat-Plugin, X-Aichat-Model, X-Aichat-Attempts, X-Aichat-Fallback, X-Aichat-Memories',
  'X-Aichat-Cost, X-Aichat-Budget, X-Aichat-Warnings, X-Aichat-Local-Only',
  'X-Speech-Engine, X-Speech-Chunks, X-Speech-Skipped',
  ...['limit', 'remaining', 'reset'].flatMap((field) => [
    ...['Requests', 'Tokens'].map((kind) => `X-RateLimit-${field}-${kind}`),
    ...['Requests', 'Tokens', 'Input-Tokens', 'Output-Tokens'].map((kind) => `Anthropic-RateLimit-${kind}-${field}`),
  ]),
].join(', ')

/** CORS: only origins in CORS_ORIGIN may read; refuses cross-site writes. True for a preflight, now answered. */
export function checkOrigin({ request, response }: RequestContext, settings: Settings): boolean {
  const { origin, host = '' } = request.headers
  if (settings.corsOrigins.length > 0) response.setHeader('vary', 'Origin')
  const isListed = origin !== undefined && origin !== 'null' && settings.corsOrigins.includes(origin)
  if (isListed) {
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', exposedHeaders)
  }
  if (request.method === 'OPTIONS') {
    if (isListed && request.headers['access-control-request-method']) {
      response.setHeader('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
      response.setHeader('access-control-allow-headers', allowedHeaders(request.headers))
      response.setHeader('access-control-max-age', '600')
    }
    response.statusCode = 204
    response.end()
    return true
  }
  if (request.method === 'GET' || request.method === 'HEAD' || isListed) return false
  const isForeign = origin !== undefined && !isOwnOrigin(origin, host, settings)
  if (isForeign || isRepeated(request, 'origin') || request.headers['sec-fetch-site'] === 'cross-site')
    throw new AppError('forbidden', 'Pages of that origin may not call this server', {
      details: ['Add the origin to CORS_ORIGIN'],
    })
  return false
}

/**
 * The headers that a listed page asks for: the libraries of OpenAI and Anthropic add a dozen of their own (`x-stainless-os`,
 * `anthropic-dangerous-direct-browser-access`), MCP clients `mcp-protocol-version`, and no list knows all. Left out is the
 * console's, whose cookie no other origin uses.
 */
function allowedHeaders(headers: IncomingHttpHeaders): string {
  const asked = String(headers['access-control-request-headers'] ?? '').split(',')
  return asked
    .map((name) => name.trim().toLowerCase())
    .filter((name) => headerName.test(name) && name !== 'x-aichat-console')
    .join(', ')
}

/** A token of RFC 9110, section 5.6.2. */
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/

/** Whether the origin is the host of this request, which `checkHost` has checked, or one of PUBLIC_HOSTS. */
function isOwnOrigin(origin: string, host: string, { publicHosts }: Settings): boolean {
  const authority = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
  return authority !== undefined && (authority === host.toLowerCase() || publicHosts.includes(authority))
}
