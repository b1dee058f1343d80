import { type LookupAddress, lookup } from 'node:dns'
import { performance } from 'node:perf_hooks'
import { AppError } from '../errors.ts'
import { readBytes } from '../formats/formats.ts'
import { addressRange, connectionSentence, deadlineReached, type HttpResponse, hostRange } from '../http/http.ts'
import { openHttpClient, type Resolve } from '../http-client/http-client.ts'
import { version } from '../version.ts'

export interface FetchedFile {
  /** The address that gave it, after redirects. */
  readonly url: string
  /** The media type without parameters, in small letters; undefined where the server names none. */
  readonly type: string | undefined
  readonly charset: string | undefined
  readonly bytes: Buffer
}

const mostRedirects = 5

/** Milliseconds; `total` covers all redirects. */
const timeouts = { connect: 10_000, firstByte: 20_000, idle: 20_000, total: 60_000 }

const headers = {
  accept: 'text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5',
  'user-agent': `aichat-toolkit/${version()}`,
}

/** How far inside an address lies: a redirect leads outwards or stays, never inwards. */
const depths = { public: 0, private: 1, loopback: 2, forbidden: 3 } as const

/**
 * Fetches a file that the user named, of at most `limit` bytes as it is unpacked; sends no key. An address on this machine
 * or its network is allowed, since its user typed it; a redirect from outside to there is not. Throws `no_input` for a page
 * that is not there, `too_large`, `timeout`, `configuration` for a forbidden address, else `unavailable`.
 */
export async function fetchFile(address: string, limit: number, signal: AbortSignal): Promise<FetchedFile> {
  const endsAt = performance.now() + timeouts.total
  let url = new URL(address)
  let depth: number = depths.loopback
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await exchange(url, depth, { limit, signal, endsAt })
    if ('bytes' in answer) return answer
    url = answer.next
    depth = answer.depth
  }
  throw new AppError('unavailable', `${address} redirects more than ${mostRedirects} times`)
}

interface Bounds {
  readonly limit: number
  readonly signal: AbortSignal
  readonly endsAt: number
}

async function exchange(url: URL, allowed: number, { limit, signal, endsAt }: Bounds) {
  let depth: number = depths[hostRange(url.hostname)]
  const refuse = (reached: number) => {
    if (reached > allowed)
      throw new AppError('configuration', `A page redirects to ${url.host}, an address inside your network`, {
        details: ['Name that address itself if you mean it'],
      })
  }
  const resolve: Resolve = (name, options, done) =>
    lookup(name, options, (error, addresses: LookupAddress[]) => {
      try {
        for (const { address } of addresses ?? []) depth = Math.max(depth, depths[addressRange(address)])
        refuse(depth)
        done(error, addresses)
      } catch (reason) {
        done(reason as NodeJS.ErrnoException, [])
      }
    })
  refuse(Math.min(depth, depths.loopback))
  const client = openHttpClient({ allowPrivate: true, longestBody: limit, resolve })
  try {
    const response = await client.send({ method: 'GET', url: url.href, headers, timeouts, signal, endsAt })
    const next = redirectOf(response, url)
    if (next) return { next, depth }
    return await fileOf(response, url, limit)
  } catch (reason) {
    if (signal.aborted || reason instanceof AppError) throw reason
    throw explained(reason, url, limit)
  } finally {
    await client.close()
  }
}

function redirectOf({ status, headers: { location } }: HttpResponse, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined
  const isAddress = location !== undefined && URL.canParse(String(location), from.href)
  const next = isAddress ? new URL(String(location), from.href) : undefined
  if (!next || !/^https?:$/.test(next.protocol) || next.username || next.password)
    throw new AppError('unavailable', `${from.href} redirects to an address that is not followed`)
  return next
}

async function fileOf(response: HttpResponse, url: URL, limit: number): Promise<FetchedFile> {
  const { status } = response
  if (status === 404 || status === 410) throw new AppError('no_input', `${url.href} was not found (status ${status})`)
  if (status < 200 || status > 299) throw new AppError('unavailable', `${url.href} answered with status ${status}`)
  if (Number(response.headers['content-length'] ?? 0) > limit) throw tooLarge(url, limit)
  const bytes = await readBytes(response.body, limit, () => tooLarge(url, limit))
  const contentType = String(response.headers['content-type'] ?? '')
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1]
  return {
    url: url.href,
    type: contentType.split(';')[0]!.trim().toLowerCase() || undefined,
    charset,
    bytes,
  }
}

function explained(reason: unknown, url: URL, limit: number): AppError {
  const { code, message } = reason as NodeJS.ErrnoException
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return tooLarge(url, limit)
  if (reason === deadlineReached || /^UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT$/.test(code ?? ''))
    return new AppError('timeout', `${url.href} did not answer in time`, { cause: reason })
  const details = [connectionSentence(reason) ?? message].filter(Boolean)
  return new AppError('unavailable', `${url.href} cannot be read`, { details, cause: reason })
}

function tooLarge(url: URL, limit: number): AppError {
  return new AppError('too_large', `${url.href} is larger than ${Math.round(limit / 1024 / 1024)} MiB`)
}
