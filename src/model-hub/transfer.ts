import { AppError } from '../errors.ts'
import { type HttpResponse, hostRange, type Send } from '../http/http.ts'

export interface HubFile {
  readonly repository: string
  readonly revision: string
  readonly path: string
}

/** The hub's digest of a file's content: SHA-256 for large files, the git blob id for small ones. */
export interface Digest {
  readonly kind: 'sha256' | 'git'
  readonly hex: string
}

export type FileInfo = ReturnType<typeof infoOf>

export interface OpenFile extends FileInfo {
  /** The place in the file at which the body begins. */
  readonly from: number
  readonly body: AsyncIterable<Uint8Array>
  discard(): void
}

export type Transfer = ReturnType<typeof createTransfer>

export interface TransferParts {
  /** Such as https://huggingface.co, without a slash at the end. */
  readonly endpoint: string
  readonly token: string | undefined
  readonly send: Send
}

/** The hub, or the way to it, has a bad moment. */
export class HubBusy extends Error {
  override readonly name = 'HubBusy'
  /** Milliseconds the hub asked to wait. */
  readonly waitMs: number | undefined

  constructor(message: string, waitMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.waitMs = waitMs
  }
}

const timeouts = { connect: 15_000, firstByte: 30_000, idle: 30_000 }
const mostHops = 6
const longestWait = 60_000

/** Files of a model hub over HTTP, as https://huggingface.co/docs/hub/api and its client libraries ask for them. */
export function createTransfer({ endpoint, token, send }: TransferParts) {
  const home = homeOf(endpoint)
  return {
    /**
     * Asks for a file from a byte on. The body may begin earlier, at 0, where a server knows no ranges.
     * Throws an AppError when the hub refuses, `HubBusy` when the same question may be answered later.
     */
    open: async (file: HubFile, from: number, signal?: AbortSignal) => {
      const found = await follow(file, from, signal, () => false)
      return found as OpenFile
    },
    /**
     * The hub's description of a file, without its bytes: the host of the bytes is asked only where the hub lacks it.
     */
    async describe(file: HubFile, signal?: AbortSignal): Promise<FileInfo> {
      const found = await follow(file, 0, signal, ({ bytes, digest }) => bytes !== undefined && digest !== undefined)
      if ('discard' in found) found.discard()
      return { bytes: found.bytes, digest: found.digest }
    },
  }

  /** Follows the hub's redirects to the bytes, or until the description is complete. */
  async function follow(
    file: HubFile,
    from: number,
    signal: AbortSignal | undefined,
    isEnough: (info: FileInfo) => boolean,
  ): Promise<OpenFile | FileInfo> {
    let url = new URL(`${endpoint}/${[file.repository, 'resolve', file.revision, file.path].map(escaped).join('/')}`)
    let info: FileInfo = { bytes: undefined, digest: undefined }
    for (let hop = 0; hop < mostHops; hop++) {
      const reply = await exchange(url, from, signal)
      if (url.origin === home.origin) info = { ...info, ...known(infoOf(reply)) }
      const next = redirectOf(reply, url)
      if (!next) return answer(file, reply, from, info)
      reply.discard()
      if (isEnough(info)) return info
      url = next
    }
    throw new AppError('protocol', `The model hub redirects ${file.path} in circles`)
  }

  async function exchange(url: URL, from: number, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' }
    if (from > 0) headers['range'] = `bytes=${from}-`
    // The token is the hub's own: the host that the bytes come from never sees it.
    if (token && url.origin === home.origin) headers['authorization'] = `Bearer ${token}`
    try {
      return await send({ method: 'GET', url: url.href, headers, timeouts, signal })
    } catch (reason) {
      if (reason instanceof AppError || signal?.aborted) throw reason
      const words = reason instanceof Error ? reason.message : String(reason)
      throw new HubBusy(`${url.host} could not be reached: ${words}`, undefined, { cause: reason })
    }
  }

  function answer(file: HubFile, reply: HttpResponse, from: number, info: FileInfo): OpenFile {
    const { status, headers } = reply
    const at = status === 206 ? rangeStart(headers['content-range']) : 0
    if ((status === 200 || (status === 206 && at !== undefined && at <= from)) && at !== undefined) {
      const length = number(headers['content-length'])
      const total = status === 206 ? rangeTotal(headers['content-range']) : length
      return {
        bytes: info.bytes ?? total,
        digest: info.digest,
        from: at,
        body: reply.body,
        discard: () => reply.discard(),
      }
    }
    const wait = waitOf(headers['retry-after'])
    reply.discard()
    throw refusal(file, status, text(headers['x-error-code']), wait)
  }

  function refusal(file: HubFile, status: number, code: string, wait: number | undefined): Error {
    const page = `${endpoint}/${file.repository}`
    if (code === 'GatedRepo' || status === 401 || status === 403) {
      const details = token
        ? [
            `accept its licence at ${page} with the account that HF_TOKEN belongs to`,
            'or set HF_TOKEN to a valid token',
          ]
        : [`accept its licence at ${page}`, 'then set HF_TOKEN to a token of that account and pull again']
      return new AppError('forbidden', `The model hub does not give out ${file.repository} (${status})`, { details })
    }
    if (status === 404)
      return new AppError('not_found', `The model hub has no ${file.path} of ${file.repository} at ${file.revision}`)
    // The part on disk is as long as the file or longer: begin again.
    if (status === 416) return new HubBusy('the range was refused')
    if (status === 408 || status === 429 || status >= 500) return new HubBusy(`the model hub answered ${status}`, wait)
    return new AppError('protocol', `The model hub answered ${status} for ${file.path} of ${file.repository}`)
  }

  function redirectOf({ status, headers }: HttpResponse, url: URL): URL | undefined {
    if (![301, 302, 303, 307, 308].includes(status)) return undefined
    const location = text(headers['location'])
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
    if (!next || !/^https?:$/.test(next.protocol))
      throw new AppError('protocol', 'The model hub redirects to an invalid URL')
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new AppError('protocol', 'The model hub redirects to an unencrypted address, which is not followed')
    return next
  }

  function homeOf(address: string): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (!url || !/^https?:$/.test(url.protocol))
      throw new AppError(
        'configuration',
        `Invalid HF_ENDPOINT (models.hub), not an http address: ${address.slice(0, 100)}`,
      )
    if (token && url.protocol === 'http:' && hostRange(url.hostname) === 'public')
      throw new AppError('configuration', 'HF_TOKEN would travel unencrypted: HF_ENDPOINT must be an https address')
    return url
  }
}

/** A path with every part escaped, the slashes kept. */
function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** `x-linked-*` describe the file itself where the answer is a redirect to it; `etag` alone may be another host's. */
function infoOf({ status, headers }: HttpResponse) {
  const etag = text(headers['x-linked-etag'] ?? headers['etag'])
    .replace(/^W\//, '')
    .replaceAll('"', '')
    .toLowerCase()
  const digest: Digest | undefined = /^[0-9a-f]{64}$/.test(etag)
    ? { kind: 'sha256', hex: etag }
    : /^[0-9a-f]{40}$/.test(etag)
      ? { kind: 'git', hex: etag }
      : undefined
  const whole = status === 200 ? number(headers['content-length']) : rangeTotal(headers['content-range'])
  return { digest, bytes: number(headers['x-linked-size']) ?? whole }
}

function known({ bytes, digest }: FileInfo): Partial<FileInfo> {
  return { ...(bytes !== undefined && { bytes }), ...(digest && { digest }) }
}

function rangeStart(header: Header): number | undefined {
  return number(/^bytes (\d+)-/.exec(text(header))?.[1])
}

function rangeTotal(header: Header): number | undefined {
  return number(/\/(\d+)$/.exec(text(header))?.[1])
}

/** Milliseconds of a `Retry-After` in seconds, a minute at the most. */
function waitOf(header: Header): number | undefined {
  const seconds = number(header)
  return seconds === undefined ? undefined : Math.min(longestWait, seconds * 1000)
}

type Header = string | readonly string[] | undefined

function text(header: Header): string {
  return typeof header === 'string' ? header : (header?.[0] ?? '')
}

function number(header: Header): number | undefined {
  const value = text(header)
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
