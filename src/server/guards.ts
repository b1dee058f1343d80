import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Accounts } from '../accounts/accounts.ts'
import { networkOf, type Origin, originOf, readProxies } from '../accounts/addresses.ts'
import type { Verified } from '../accounts/logins.ts'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/address-range.ts'
import { serviceUrl } from '../http/service-url.ts'
import { authorise, type Mode } from '../operations/access.ts'
import { login, register, setUp } from '../operations/auth.ts'
import type { Settings } from '../settings/settings.ts'
import { watchLogins } from './live-logins.ts'
import type { RequestContext } from './request-context.ts'
import type { Identify } from './routes.ts'

/** A token's login: who, and which one. */
type Authenticated = Exclude<Verified, string>

/**
 * The guards of the main server in their order: who asks, and whether they may. `setupToken` is what a stranger from
 * another machine must know to create the first administrator. Throws `configuration` for a TRUST_PROXY that makes no sense.
 */
export function identifyBy(accounts: Accounts, settings: Settings, setupToken?: string): Identify {
  const proxies = readProxies(settings.trustProxy)
  const watch = watchLogins(accounts.logins)
  const mode: Mode = { singleUser: settings.singleUserMode, isDefaultAdministrator: accounts.isDefaultAdministrator }
  // A connection that no proxy speaks over is always the same client's.
  const direct = new WeakMap<Socket, Origin>()
  const origin = ({ socket, headers }: IncomingMessage): Origin => {
    const forwarded = headers['x-forwarded-for']?.toString()
    const known = forwarded === undefined ? direct.get(socket) : undefined
    if (known) return known
    const found = originOf(socket.remoteAddress, forwarded, proxies)
    if (forwarded === undefined) direct.set(socket, found)
    return found
  }
  return (context, rule) => {
    const { headers } = context.request
    const { address, local } = origin(context.request)
    // Only a proxy of our own knows whether its client came encrypted.
    if (headers['x-forwarded-proto'] === 'https' && proxies.includes(context.request.socket.remoteAddress ?? ''))
      context.response.setHeader('strict-transport-security', 'max-age=31536000')
    const authenticate = rule.access === 'public' ? optionalAuth : authenticateToken
    const authenticated = authenticate(context, accounts, rule.apiKey)
    try {
      authorise(rule, authenticated?.caller, context.params['id'], mode)
    } catch (reason) {
      if (authenticated) context.response.setHeader('www-authenticate', `${challenge}, error="insufficient_scope"`)
      throw reason
    }
    if (rule === login) rateLimitAuth(accounts, address)
    if ((rule === register || rule === setUp) && !local && accounts.needsSetup()) checkSetupToken(context, setupToken)
    const session = authenticated?.session
    return {
      caller: authenticated?.caller,
      session,
      address,
      ...(session !== undefined && { watch: (ended: () => void) => watch(session, ended) }),
    }
  }
}

const challenge = 'Bearer realm="api"'

/** Whose valid token came with the request. Throws `unauthenticated`, and says so as RFC 6750 wants it. */
function authenticateToken(context: RequestContext, accounts: Accounts, apiKey?: boolean): Authenticated {
  const token = tokenOf(context, apiKey)
  const verified = token === undefined ? 'missing' : accounts.logins.verify(token)
  if (typeof verified !== 'string') return verified
  context.response.setHeader(
    'www-authenticate',
    verified === 'missing' ? challenge : `${challenge}, error="invalid_token"`,
  )
  const messages = {
    missing: 'A token is missing',
    invalid: 'The token is not valid',
    expired: 'The token has expired',
  }
  throw new AppError('unauthenticated', messages[verified], {
    details: accounts.needsSetup() ? howToSetUp(context) : ['Log in with POST /api/auth/login, or run: aichat login'],
  })
}

/** The same where nobody needs to be known: without a valid token it is nobody. */
function optionalAuth(context: RequestContext, accounts: Accounts, apiKey?: boolean): Authenticated | undefined {
  const token = tokenOf(context, apiKey)
  const verified = token === undefined ? 'invalid' : accounts.logins.verify(token)
  return typeof verified === 'string' ? undefined : verified
}

/** Refuses an address after too many failed logins, before the body is read; the login itself counts. */
function rateLimitAuth({ logins }: Accounts, address: string): void {
  logins.limit.check(networkOf(address))
}

/** While no user exists, whoever is on another machine must prove to have seen this one's terminal. */
function checkSetupToken({ request: { headers, socket } }: RequestContext, expected: string | undefined): void {
  const given = headers['x-setup-token']
  if (expected !== undefined && typeof given === 'string' && sameText(given, expected)) return
  throw new AppError('forbidden', 'The first administrator is created on the machine that serves', {
    details: [
      `Run there: aichat --server ${ownUrl(socket)} setup`,
      'or send the token that the service printed at its start as X-Setup-Token',
    ],
  })
}

/** Compared without telling by the time it takes how much of it is right. */
function sameText(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}

/** Names the address that the request came to, so that the administrator is made here and in no other installation. */
function howToSetUp({ request: { socket } }: RequestContext): readonly string[] {
  return [
    `There is no user yet: create the administrator with aichat --server ${ownUrl(socket)} setup,`,
    'or with POST /api/auth/register and {"username":"…","password":"…"}',
  ]
}

/** Where this machine reaches the server that a connection came to; who comes from elsewhere needs another way. */
function ownUrl({ localAddress = '', localPort = 0 }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, '')
  return serviceUrl(hostRange(address) === 'loopback' ? address : '127.0.0.1', localPort)
}

/** The bearer token; on routes whose clients know no other way also x-api-key. Never a cookie, never the address line. */
function tokenOf({ request }: RequestContext, apiKey = false): string | undefined {
  // Which of two would count, somebody in between may see otherwise than we do.
  if (isRepeated(request, 'authorization')) return ''
  const bearer = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined || !apiKey) return bearer ?? (request.headers.authorization === undefined ? undefined : '')
  const key = request.headers['x-api-key']
  return typeof key === 'string' ? key : undefined
}

/** Whether a header came more than once. */
export function isRepeated({ headers, rawHeaders }: IncomingMessage, name: string): boolean {
  if (headers[name] === undefined) return false
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) times++
  return times > 1
}
