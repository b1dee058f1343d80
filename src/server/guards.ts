import { AppError } from '../errors.ts'
import { hostRange } from '../plugins/manifest.ts'
import type { Settings } from '../settings.ts'
import type { Exchange } from './exchange.ts'

/**
 * Refuses a request that reached us under a name we do not have: a web page whose name was re-bound to this machine's
 * address would otherwise speak as somebody local. IP literals always pass, since only names can be re-bound.
 */
export function checkHost({ request }: Exchange, settings: Settings): void {
  const host = request.headers.host ?? ''
  const name = (host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.replace(/:\d+$/, '')).toLowerCase()
  if (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === settings.listen.host ||
    settings.publicHosts.includes(name)
  )
    return
  if (/^\[[0-9a-f:.]+\]$/.test(name) || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) || hostRange(name) === 'loopback') return
  throw new AppError('forbidden', 'This server is not known under that host name', {
    details: ['Add the name to PUBLIC_HOSTS'],
  })
}

/**
 * Answers for web pages of other origins: only those listed in CORS_ORIGIN may read, and a page that is not listed may
 * change nothing. Returns true when the exchange was a preflight and is over.
 */
export function checkOrigin({ request, response }: Exchange, settings: Settings): boolean {
  const origin = request.headers.origin
  if (settings.corsOrigins.length > 0) response.setHeader('vary', 'Origin')
  const allowed = origin !== undefined && origin !== 'null' && settings.corsOrigins.includes(origin)
  if (allowed) {
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader(
      'access-control-expose-headers',
      'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, X-Aichat-Plugin, X-Aichat-Attempts, X-Aichat-Fallback',
    )
  }
  if (request.method === 'OPTIONS') {
    if (allowed && request.headers['access-control-request-method']) {
      response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
      response.setHeader(
        'access-control-allow-headers',
        'Authorization, Content-Type, X-Api-Key, Anthropic-Version, X-Request-Id',
      )
      response.setHeader('access-control-max-age', '600')
    }
    response.statusCode = 204
    response.end()
    return true
  }
  const mutation = request.method !== 'GET' && request.method !== 'HEAD'
  if (mutation && !allowed && request.headers['sec-fetch-site'] === 'cross-site') {
    throw new AppError('forbidden', 'Pages of that origin may not call this server', {
      details: ['Add the origin to CORS_ORIGIN'],
    })
  }
  return false
}
