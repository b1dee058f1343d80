import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type Accounts,
  type ApiKeys,
  isApiKey,
  type Logins,
  type MaybePromise,
  networkOf,
  type Verified,
  type VerifiedKey,
  whenThere,
} from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { hostRange, serviceUrl } from '../http/http.ts'
import { authorise, type Caller, type Mode } from '../operations/operations.ts'
import type { Settings } from '../settings/settings.ts'
import { clientOrigins, proxiesOf } from './client-origin.ts'
import { keptToken } from './console-login.ts'
import type { Identify, Identity, Rule } from './identity.ts'
import { type Credential, watchLogins } from './live-logins.ts'
import { isEncrypted, isRepeated, oneYear, type RequestContext } from './request-context.ts'

/** The caller of a request, with the login or the API key's secret that it was sent with. */
interface Authenticated {
  readonly caller: Caller
  readonly session?: string
  readonly credential: Credential
}

/** The two kinds of credentials. */
interface Verifiers {
  readonly accounts: Accounts
  readonly logins: Pick<Logins, 'verify'>
  readonly keys: ApiKeys
  readonly settings: Pick<Settings, 'console'>
}

export interface GuardOptions {
  /** A client on another machine needs it to create the first administrator. */
  readonly setupToken?: string | undefined
  /** The database that instances share. */
  readonly database?: App['database']
}

/**
 * The guards of the main server, in their order: authentication, authorisation, login limit, setup token. Throws `configuration` for an invalid TRUST_PROXY.
 */
export function identifyBy(
  accounts: Accounts,
  keys: ApiKeys,
  settings: Settings,
  { setupToken, database }: GuardOptions = {},
): Identify {
  const trusted = proxiesOf(settings)
  const watch = watchLogins(accounts.logins, keys)
  const verifiers: Verifiers = { accounts, logins: accounts.logins, keys, settings }
  const mode: Mode = {
    get singleUser() {
      return settings.singleUserMode
    },
    isDefaultAdministrator: accounts.isDefaultAdministrator,
  }
  const origin = clientOrigins(trusted)
  return (context, rule) => {
    const { headers } = context.request
    const { address, local } = origin(context.request)
    // Only a trusted proxy knows whether its client uses TLS.
    if (headers['x-forwarded-proto'] === 'https' && trusted().includes(context.request.socket.remoteAddress ?? ''))
      context.response.setHeader('strict-transport-security', oneYear)
    const authenticate = rule.access === 'public' ? optionalAuth : authenticateToken
    return whenThere(authenticate(context, verifiers, rule.apiKeyHeader), (authenticated) => {
      // A check of a moment ago is enough for a chat alone.
      if (authenticated && rule.scope !== 'chat' && database?.isAway()) throw databaseAway()
      return whenThere(permitted(context, rule, authenticated), () => {
        // Refuses a network after too many failed logins, before the body is read; the login itself counts them.
        const allowed = rule.loginLimit ? accounts.logins.limit.check(networkOf(address)) : undefined
        return whenThere(allowed, () => {
          const identity: Identity = {
            caller: authenticated?.caller,
            session: authenticated?.session,
            address,
            ...(authenticated && { watch: (ended) => watch(authenticated.credential, ended) }),
          }
          if (!rule.createsFirstUser || local) return identity
          return accounts.needsSetup().then((needed) => {
            if (needed) checkSetupToken(context, setupToken)
            return identity
          })
        })
      })
    })
  }

  /** Throws or rejects with `forbidden`, with the challenge of RFC 6750 for a client with a token. */
  function permitted(
    context: RequestContext,
    rule: Rule,
    authenticated: Authenticated | undefined,
  ): MaybePromise<void> {
    const refused = (reason: unknown): never => {
      if (authenticated) context.response.setHeader('www-authenticate', `${challenge}, error="insufficient_scope"`)
      throw reason
    }
    try {
      const allowed = authorise(rule, authenticated?.caller, context.params['id'], mode)
      return allowed instanceof Promise ? allowed.catch(refused) : allowed
    } catch (reason) {
      return refused(reason)
    }
  }
}

/** The failure of all but chats while the database of all instances is away. */
function databaseAway(): AppError {
  return new AppError('unavailable', 'The database cannot be reached', { retryAfter: 2 })
}

const challenge = 'Bearer realm="api"'

/**
 * The caller of the request's token or API key. Throws or rejects with `unauthenticated` or `invalid_api_key`, with the
 * challenge of RFC 6750.
 */
function authenticateToken(
  context: RequestContext,
  { accounts, logins, keys, settings }: Verifiers,
  apiKeyHeader?: boolean,
): MaybePromise<Authenticated> {
  const token = tokenOf(context, settings, apiKeyHeader)
  if (token === undefined) return refuseToken(context, accounts, 'missing')
  if (isApiKey(token)) return whenThere(keys.verify(token), (verified) => withKey(context, verified))
  return whenThere(logins.verify(token), (verified) =>
    typeof verified === 'string' ? refuseToken(context, accounts, verified) : withLogin(verified),
  )
}

function withLogin({ caller, session }: Exclude<Verified, string>): Authenticated {
  return { caller, session, credential: { session } }
}

function withKey({ response }: RequestContext, verified: VerifiedKey | AppError): Authenticated {
  if (!(verified instanceof AppError)) return { caller: verified.caller, credential: { key: verified.digest } }
  response.setHeader('www-authenticate', `${challenge}, error="invalid_token"`)
  throw verified
}

/** Rejects with `unauthenticated` and the challenge of RFC 6750. */
async function refuseToken(
  context: RequestContext,
  accounts: Accounts,
  verified: 'missing' | 'invalid' | 'expired',
): Promise<never> {
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
    details: (await accounts.needsSetup())
      ? howToSetUp(context)
      : ['Log in with POST /api/auth/login, or run: aichat login'],
  })
}

/** The login of the request's token, or undefined without a valid one. An API key opens no public operation further. */
function optionalAuth(
  context: RequestContext,
  { logins, settings }: Verifiers,
  apiKeyHeader?: boolean,
): MaybePromise<Authenticated | undefined> {
  const token = tokenOf(context, settings, apiKeyHeader)
  if (token === undefined || isApiKey(token)) return undefined
  return whenThere(logins.verify(token), (verified) => (typeof verified === 'string' ? undefined : withLogin(verified)))
}

/** Until the first user exists, a client on another machine must send the token printed on this one's terminal. */
function checkSetupToken({ request }: RequestContext, expected: string | undefined): void {
  const { headers } = request
  const given = headers['x-setup-token']
  if (expected !== undefined && typeof given === 'string' && sameText(given, expected)) return
  throw new AppError('forbidden', 'The first administrator is created on the machine that serves', {
    details: [
      `Run there: aichat --server ${ownUrl(request)} setup`,
      'or send the token that the service printed at its start as X-Setup-Token',
    ],
  })
}

/** Compares in constant time. */
export function sameText(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}

/** Names the address that the request was sent to, so that the administrator is created in this installation. */
function howToSetUp({ request }: RequestContext): readonly string[] {
  return [
    `There is no user yet: create the administrator with aichat --server ${ownUrl(request)} setup,`,
    'or with POST /api/auth/register and {"username":"…","password":"…"}',
  ]
}

/** The address at which this machine reaches the server of a connection. */
function ownUrl(request: IncomingMessage): string {
  const { localAddress = '', localPort = 0 } = request.socket
  const address = localAddress.replace(/^::ffff:/, '')
  return serviceUrl(
    hostRange(address) === 'loopback' ? address : '127.0.0.1',
    localPort,
    isEncrypted(request) ? 'https' : 'http',
  )
}

/** The bearer token or API key, or x-api-key on Anthropic's routes; never the query; a cookie from the console only. */
function tokenOf(
  context: RequestContext,
  settings: Pick<Settings, 'console'>,
  apiKeyHeader = false,
): string | undefined {
  const { request } = context
  // A proxy may pick another one of two.
  if (isRepeated(request, 'authorization')) return ''
  if (request.headers['x-aichat-console'] !== undefined && request.headers.authorization === undefined)
    return keptToken(context, settings)
  const bearer = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined || !apiKeyHeader)
    return bearer ?? (request.headers.authorization === undefined ? undefined : '')
  const key = request.headers['x-api-key']
  return typeof key === 'string' ? key : undefined
}
