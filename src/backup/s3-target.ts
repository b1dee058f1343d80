import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AwsV4Signer } from 'aws4fetch'
import { AppError } from '../errors.ts'
import { hostRange } from '../http/address-range.ts'
import type { HttpRequest, HttpResponse, Send } from '../http/send.ts'
import { type BackupTarget, byAge, keptOf } from './target.ts'

export interface S3Place {
  readonly bucket: string
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string
  readonly region: string
  /** The address of another service than Amazon's; undefined for Amazon's. */
  readonly endpoint: string | undefined
}

export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** The largest object of one request: 5 GiB (Amazon S3, "Uploading objects"). */
const largestObject = 5 * 1024 ** 3

/** Milliseconds. A service may take long to acknowledge gigabytes. */
const timeouts = { connect: 10_000, firstByte: 120_000, idle: 60_000 }

/** Times that a request is sent that fails by the network or the service, and the first wait between two: milliseconds. */
const mostTries = 4
const firstWaitMs = 500

/** The longest answer that is read as a text: bytes. */
const longestText = 4 * 1024 ** 2

/** Pages of 1,000 names that are listed. */
const mostPages = 100

/** The SHA-256 of nothing. */
const emptySum = createHash('sha256').digest('hex')

/** `s3://BUCKET/PREFIX`; undefined for anything else. */
export function s3Place(text: string): Pick<S3Place, 'bucket' | 'prefix'> | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]{0,500}))?$/.exec(text)
  if (!match) return undefined
  return { bucket: match[1]!, prefix: (match[2] ?? '').replace(/^\/+|\/+$/g, '') }
}

/** Keeps backups in a bucket of S3 or of a service that speaks it. Throws `configuration` for an address that must not be used. */
export function s3Target(place: S3Place, keys: S3Keys, send: Send, close: () => Promise<void>): BackupTarget {
  const base = baseOf(place)
  const keyOf = (name: string) => (place.prefix === '' ? name : `${place.prefix}/${name}`)
  const urlOf = (name: string) => `${base}/${keyOf(name).split('/').map(encodeURIComponent).join('/')}`

  return {
    shown: `s3://${place.bucket}/${place.prefix}`,
    async list(signal) {
      const found = []
      let token: string | undefined
      for (let page = 0; page < mostPages; page++) {
        const query = new URLSearchParams({ 'list-type': '2', prefix: keyOf('') })
        if (token !== undefined) query.set('continuation-token', token)
        const text = await (await exchange({ method: 'GET', url: `${base}/?${query}`, signal })).text(longestText)
        for (const [, entry = ''] of text.matchAll(/<Contents>((?:(?!<Contents>)[\s\S])*?)<\/Contents>/g)) {
          const key = textIn(entry, 'Key')
          const kept = key?.startsWith(keyOf(''))
            ? keptOf(key.slice(keyOf('').length), Number(textIn(entry, 'Size')))
            : undefined
          if (kept) found.push(kept)
        }
        token = textIn(text, 'NextContinuationToken')
        if (token === undefined) break
      }
      return byAge(found)
    },
    async put(file, name, onProgress, signal) {
      const { size } = statSync(file)
      if (size > largestObject)
        throw new AppError(
          'too_large',
          `The backup has ${size} bytes; S3 takes at most ${largestObject} in one request`,
          {
            details: ['Keep backups in a folder: aichat config set backup.target FOLDER'],
          },
        )
      const sum = await sumOf(file)
      const response = await exchange({
        method: 'PUT',
        url: urlOf(name),
        signal,
        sum,
        size,
        body: () => sent(file, size, onProgress),
      })
      response.discard()
    },
    async fetch(name, to, onProgress, signal) {
      const response = await exchange({ method: 'GET', url: urlOf(name), signal })
      const size = Number(response.headers['content-length'] ?? Number.NaN)
      let bytes = 0
      const counted = async function* () {
        for await (const piece of response.body) {
          bytes += piece.length
          if (size > 0) onProgress(bytes / size)
          yield piece
        }
      }
      try {
        await pipeline(counted, createWriteStream(to, { flags: 'wx', mode: 0o600 }))
        if (Number.isFinite(size) && bytes !== size)
          throw new AppError('protocol', 'The backup broke off while it was fetched')
      } catch (reason) {
        await rm(to, { force: true })
        throw reason
      }
      return to
    },
    async remove(name, signal) {
      const there = (await this.list(signal)).some((kept) => kept.name === name)
      const response = await exchange({ method: 'DELETE', url: urlOf(name), signal })
      response.discard()
      return there
    },
    close,
  }

  /** One request, again where the network or the service failed. Throws an AppError for every other answer than 2xx. */
  async function exchange(request: S3Request): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      const outcome = await once(request).catch((reason: unknown) => reason)
      if (isResponse(outcome) && outcome.status >= 200 && outcome.status < 300) return outcome
      const failure = isResponse(outcome) ? await refusalOf(outcome, place) : unreachable(outcome)
      const mayHelp = !isResponse(outcome) || outcome.status >= 500 || outcome.status === 429
      if (!mayHelp || tries === mostTries || request.signal?.aborted) throw failure
      await new Promise((resolve) => setTimeout(resolve, firstWaitMs * 2 ** (tries - 1)))
    }
  }

  async function once({ method, url, sum = emptySum, size, body, signal }: S3Request): Promise<HttpResponse> {
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { 'x-amz-content-sha256': sum },
      service: 's3',
      region: place.region,
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    })
    const { headers, url: signed } = await signer.sign()
    const request: HttpRequest = {
      method,
      url: signed.href,
      headers: { ...Object.fromEntries(headers), ...(size !== undefined && { 'content-length': String(size) }) },
      timeouts,
      signal,
      ...(body && { body: body() }),
    }
    return send(request)
  }
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly url: string
  readonly sum?: string
  readonly size?: number
  readonly body?: () => Readable
  readonly signal?: AbortSignal | undefined
}

function baseOf({ bucket, region, endpoint }: S3Place): string {
  if (endpoint === undefined)
    return bucket.includes('.')
      ? `https://s3.${region}.amazonaws.com/${bucket}`
      : `https://${bucket}.s3.${region}.amazonaws.com`
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new AppError(
      'configuration',
      'Invalid AWS_ENDPOINT_URL_S3 (backup.s3_endpoint): give an http or https address',
    )
  if (url.protocol === 'http:' && hostRange(url.hostname) === 'public')
    throw new AppError('configuration', `Backups would travel unencrypted to ${url.host}: use an https address`)
  return `${url.href.replace(/(?<!\/)\/+$/, '')}/${bucket}`
}

function isResponse(outcome: unknown): outcome is HttpResponse {
  return typeof outcome === 'object' && outcome !== null && 'status' in outcome && 'discard' in outcome
}

function unreachable(reason: unknown): unknown {
  if (reason instanceof AppError) return reason
  return new AppError('unavailable', 'The S3 service could not be reached', { cause: reason, retryAfter: 60 })
}

/** The failure of an answer other than 2xx, by the code in its XML ("Error responses" of Amazon S3). */
async function refusalOf(response: HttpResponse, { bucket, region }: S3Place): Promise<AppError> {
  const text = await response.text(longestText).catch(() => '')
  const code = textIn(text, 'Code')?.slice(0, 100) ?? `HTTP ${response.status}`
  if (code === 'NoSuchKey') return new AppError('not_found', `Backup not found in the bucket ${bucket}`)
  if (code === 'NoSuchBucket') return new AppError('configuration', `The bucket ${bucket} is not there: make it first`)
  if (response.status === 404) return new AppError('not_found', `The S3 service has no such bucket or backup (${code})`)
  if (response.status === 401 || response.status === 403)
    return new AppError('provider_auth', `The S3 service refuses the keys (${code})`, {
      details: [
        'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and their rights in the bucket',
        `and that the clock of this machine is right and the bucket lies in ${region} (backup.s3_region)`,
      ],
    })
  return new AppError('unavailable', `The S3 service answers with ${code}`, { retryAfter: 60 })
}

function textIn(xml: string, tag: string): string | undefined {
  return new RegExp(`<${tag}>([^<]*)</${tag}>`)
    .exec(xml)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: 1024 ** 2 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}

function sent(file: string, size: number, onProgress: (share: number) => void): Readable {
  let bytes = 0
  return Readable.from(
    (async function* () {
      for await (const piece of createReadStream(file, { highWaterMark: 256 * 1024 })) {
        bytes += (piece as Buffer).length
        onProgress(bytes / size)
        yield piece as Buffer
      }
    })(),
  )
}
