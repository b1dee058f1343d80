import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { AppError } from '../errors.ts'

/**
 * JSON Web Tokens (RFC 7519) with one algorithm, HS256, under the rules of RFC 8725.
 * jose signs, once per login. Verifying is done here: it happens at every request, and jose's runs on the thread pool,
 * where it would wait behind password hashes.
 */
export type Tokens = ReturnType<typeof createTokens>

/** The claims of a token. Its role is a hint for clients: the database decides. Times are seconds since 1970. */
export interface Claims {
  readonly sub: string
  readonly sid: string
  readonly ver: number
  readonly role: string
  readonly iat: number
  readonly exp: number
}

/** The secrets of this installation: the first signs, all of them verify. */
export type Secrets = readonly [current: string, ...previous: string[]]

/** The most tokens with a good signature that are cached; the oldest go first. */
const remembered = 1000

/** The longest token that is looked at: characters. Ours have about 350. */
const longestToken = 4096

const issuer = 'aichat-toolkit'

/** The header that jose writes for us; any other that says the same is read as well. */
const ownHeader = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

/** How far in the future a token may say that it begins, for clocks that differ: seconds. */
const clockSkew = 60

/** RFC 7518 3.2: the key of HS256 has at least 256 bits. */
const shortestSecret = 32

/** `secrets` is asked at the first token; `clock` is milliseconds since 1970. */
export function createTokens(secrets: () => Secrets, clock: () => number) {
  let known: readonly KeyObject[] | undefined
  // A signature that was good stays good; its time and its login are checked at every request.
  const good = new Map<string, Signed>()
  const keys = () => {
    known ??= keysOf(secrets())
    return known
  }
  return {
    /** Throws a `configuration` AppError when there is no secret that may be used. */
    check: () => void keys(),
    /** Other secrets from now on; tokens of those that are not among them are not valid any more. */
    replace(next: Secrets) {
      known = keysOf(next)
      good.clear()
    },
    async sign({ sub, iat, exp, ...claims }: Claims): Promise<string> {
      const { SignJWT } = await import('jose')
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(sub)
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt(iat)
        .setExpirationTime(exp)
        .sign(keys()[0]!)
    },
    /** The claims of a token of ours that has begun and not expired; the second time a matter of nanoseconds. */
    verify(token: string): Claims | 'invalid' | 'expired' {
      const signed = good.get(token) ?? read(token)
      const now = clock() / 1000
      if (!signed || signed.begins > now + clockSkew) return 'invalid'
      if (signed.claims.exp > now) return signed.claims
      good.delete(token)
      return 'expired'
    },
  }

  /** The claims of a token with one of our signatures. */
  function read(token: string): Signed | undefined {
    if (token.length > longestToken) return undefined
    const [header, payload, signature, rest] = token.split('.')
    if (!header || !payload || !signature || rest !== undefined) return undefined
    const given = decode(signature)
    if (!given || !keys().some((key) => isSignature(key, header, payload, given))) return undefined
    if (header !== ownHeader && !isAcceptedHeader(parse(header))) return undefined
    const signed = readClaims(parse(payload))
    if (!signed) return undefined
    good.set(token, signed)
    if (good.size > remembered) good.delete(good.keys().next().value!)
    return signed
  }
}

function keysOf(secrets: Secrets): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(Buffer.from(secret)))
}

/** Reasons why a secret is too easy to guess; none for a good one, and for none. */
export function secretProblems(secret: string | undefined): readonly string[] {
  if (secret === undefined) return []
  const problems: string[] = []
  if (Buffer.byteLength(secret) < shortestSecret)
    problems.push(`JWT_SECRET must be at least ${shortestSecret} bytes long`)
  if (new Set(secret).size < 8) problems.push('JWT_SECRET repeats few characters')
  if (
    /change[-_ ]?(?:me|this|in)|your[-_ ]|place[-_ ]?holder|example|default|^<.*>$|^(?:secret|password|jwt[-_ ])/i.test(
      secret,
    )
  )
    problems.push('JWT_SECRET is a well-known placeholder')
  return problems
}

/** Throws a `configuration` AppError that says how to make a good secret. */
export function refuseWeakSecret(problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new AppError('configuration', 'JWT_SECRET is not fit for production', {
    details: [...problems, "Make one with: node -p 'crypto.randomBytes(32).toString(`base64`)'"],
  })
}

function isSignature(key: KeyObject, header: string, payload: string, given: Buffer): boolean {
  const expected = createHmac('sha256', key).update(`${header}.${payload}`).digest()
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The bytes of canonical base64url: two spellings of one token are one too many. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

function parse(part: string): Record<string, unknown> | undefined {
  const bytes = decode(part)
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Nothing else in a header is obeyed: no key of its own (jku, jwk, x5u, kid), and no extension that must be understood. */
function isAcceptedHeader(header: Record<string, unknown> | undefined): boolean {
  return header?.['alg'] === 'HS256' && header['typ'] === 'JWT' && !('crit' in header)
}

interface Signed {
  readonly claims: Claims
  /** The later of `iat` and `nbf`: seconds since 1970. Before it the token is not valid. */
  readonly begins: number
}

function readClaims(payload: Record<string, unknown> | undefined): Signed | undefined {
  if (!payload) return undefined
  const { sub, sid, ver, role, iat, exp, nbf = iat, iss, aud } = payload
  if (iss !== issuer || aud !== issuer) return undefined
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof role !== 'string') return undefined
  if (!Number.isInteger(ver) || !Number.isInteger(iat) || !Number.isInteger(exp)) return undefined
  if (typeof nbf !== 'number') return undefined
  const claims = { sub, sid, ver: ver as number, role, iat: iat as number, exp: exp as number }
  return { claims, begins: Math.max(claims.iat, nbf) }
}
