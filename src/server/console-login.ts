import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Settings } from '../settings/settings.ts'
import { isEncrypted, isRepeated, type RequestContext } from './request-context.ts'

/**
 * The login of a person in the web console, kept in an HttpOnly cookie so that it outlives a reload of the page. Programs send
 * a bearer token; this cookie counts only together with the header `X-Aichat-Console`, which the page sets to a random secret of its
 * own. That header is the defence against forged requests: other pages cannot send it, since no CORS answer of this server
 * permits it, and same-origin is checked besides.
 *
 * The cookie holds the token sealed with that secret. Browsers send the cookies of a host to all of its ports, so that any
 * other program that the person opens on this machine would learn a token in plain text.
 */

/** The secret of a page: 32 bytes in base64url. */
const secretForm = /^[\w-]{43}$/

/** Whether a request comes from a page of the console, which has a login in a cookie or gets one. */
export function isFromConsole(
  { request }: Pick<RequestContext, 'request'>,
  { console }: Pick<Settings, 'console'>,
): boolean {
  return console && secretOf(request) !== undefined
}

/** The token in the cookie of a request from the console; undefined for any other request. */
export function keptToken(
  { request }: Pick<RequestContext, 'request'>,
  { console }: Pick<Settings, 'console'>,
): string | undefined {
  const secret = console ? secretOf(request) : undefined
  const sealed = secret && cookieOf(request)
  return sealed ? open(sealed, secret) : undefined
}

/** Moves the token of an answer into the cookie: the page's scripts never see it. */
export function keepLogin<T extends { readonly token: string }>(context: RequestContext, answer: T): Omit<T, 'token'> {
  const { request, response } = context
  const { token, ...rest } = answer
  setCookie(request, response, seal(token, secretOf(request)!))
  return rest
}

/** Removes the cookie from the browser of a console that logged out. */
export function forgetLogin({ request, response }: RequestContext): void {
  if (secretOf(request) !== undefined) setCookie(request, response, '', '; Max-Age=0')
}

/** The page's secret, where the request comes from a page of this very origin. */
function secretOf(request: IncomingMessage): string | undefined {
  const { 'x-aichat-console': secret, 'sec-fetch-site': site } = request.headers
  if (typeof secret !== 'string' || !secretForm.test(secret)) return undefined
  // Browsers send Sec-Fetch-Site to https and this machine alone, and Origin with every request that changes something.
  if (site !== undefined && site !== 'same-origin') return undefined
  return isSameOrigin(request) ? secret : undefined
}

function isSameOrigin(request: IncomingMessage): boolean {
  const { origin, host = '' } = request.headers
  if (origin === undefined) return true
  return !isRepeated(request, 'origin') && /^https?:\/\/(.+)$/i.exec(origin)?.[1]?.toLowerCase() === host.toLowerCase()
}

/** Two installations on one machine share its cookies: the port tells theirs apart. */
function cookieName({ socket }: IncomingMessage): string {
  return `aichat-console-${socket.localPort}`
}

function cookieOf(request: IncomingMessage): string | undefined {
  const name = cookieName(request)
  const pairs = request.headers.cookie?.split(';') ?? []
  return pairs
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

/** A session cookie: the token in it has an expiry of its own. */
function setCookie(request: IncomingMessage, response: ServerResponse, value: string, more = ''): void {
  // The guards have set the header where this server or a trusted proxy speaks TLS.
  const isSecure = isEncrypted(request) || response.hasHeader('strict-transport-security')
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${more}`
  response.setHeader('set-cookie', `${cookieName(request)}=${value}; ${attributes}`)
}

const algorithm = 'aes-256-gcm'
/** Bytes of GCM's nonce and tag (NIST SP 800-38D). */
const nonceBytes = 12
const tagBytes = 16

/** The secret is 256 random bits: a hash derives a key from it. */
function keyOf(secret: string): Buffer {
  return createHash('sha256').update('aichat-console ').update(secret).digest()
}

function seal(token: string, secret: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce)
  return Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** The sealed token; undefined where another secret sealed it. */
function open(sealed: string, secret: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length <= nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, keyOf(secret), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
