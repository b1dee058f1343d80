import { isIP } from 'node:net'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/address-range.ts'
import type { Settings } from '../settings/settings.ts'
import { isRepeated, type RequestContext } from './request-context.ts'

/**
 * Guards against DNS rebinding: refuses a Host that is not a name of this server. IP literals pass, since only names can be
 * rebound, except 0.0.0.0 and [::], which browsers do not treat as private addresses.
 */
export function checkHost({ request }: RequestContext, settings: Settings): void {
  // RFC 9112, section 3.2: a request with two hosts is invalid.
  if (isRepeated(request, 'host')) throw new AppError('invalid', 'The request has two Host headers')
  if (isOwnName(hostOf(request.headers.host ?? ''), settings)) return
  throw new AppError('forbidden', 'Unknown host name', {
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
  'Retry-After, RateLimit, RateLimit-Policy, X-Should-Retry, X-Request-Id',
  'X-Aichat-Plugin, X-Aichat-Model, X-Aichat-Attempts, X-Aichat-Fallback, X-Aichat-Memories',
  'X-Aichat-Cost, X-Aichat-Budget',
  ...['limit', 'remaining', 'reset'].flatMap((field) => [
    ...['Requests', 'Tokens'].map((kind) => `X-RateLimit-${field}-${kind}`),
    ...['Requests', 'Tokens', 'Input-Tokens', 'Output-Tokens'].map((kind) => `Anthropic-RateLimit-${kind}-${field}`),
  ]),
].join(', ')

/**
 * CORS: only origins listed in CORS_ORIGIN may read; cross-site writes are refused. Returns true for a preflight, which it
 * has answered.
 */
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
      response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
      response.setHeader(
        'access-control-allow-headers',
        'Authorization, Content-Type, X-Api-Key, Anthropic-Version, X-Request-Id, X-Aichat-Conversation',
      )
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

/** Whether the origin is the host of this request, which `checkHost` has checked, or one of PUBLIC_HOSTS. */
function isOwnOrigin(origin: string, host: string, { publicHosts }: Settings): boolean {
  const authority = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
  return authority !== undefined && (authority === host.toLowerCase() || publicHosts.includes(authority))
}
