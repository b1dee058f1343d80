import { createHash, createHmac } from 'node:crypto'
import { openStandIn, type Received, type StandIn } from '../helpers/providers/fake-provider.ts'

/** A server of S3 on loopback that checks each signature by itself, with Node's crypto alone. */
export interface S3Server extends StandIn {
  readonly objects: Map<string, Buffer>
  /** Requests that were answered with 403, by the reason. */
  readonly refused: string[]
  /** The next requests are answered with this status. */
  fail(status: number, times: number): void
}

export const s3Keys = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

/** Opens one with a bucket. Names per page of a list are few, so that lists have several. */
export async function openS3(bucket: string, pageSize = 2): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const refused: string[] = []
  let failing = { status: 0, times: 0 }
  const standIn = await openStandIn((request, response) => {
    const xml = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${body}`)
    if (failing.times > 0) {
      failing = { ...failing, times: failing.times - 1 }
      return void xml(failing.status, '<Error><Code>SlowDown</Code></Error>')
    }
    const problem = problemOf(request)
    if (problem !== undefined) {
      refused.push(problem)
      return void xml(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    }
    const url = new URL(request.url, 'http://127.0.0.1')
    const [, asked, ...rest] = decodeURIComponent(url.pathname).split('/')
    const key = rest.join('/')
    if (asked !== bucket) return void xml(404, '<Error><Code>NoSuchBucket</Code></Error>')
    if (request.method === 'PUT') {
      objects.set(key, Buffer.from(request.body, 'latin1'))
      return void response.writeHead(200).end()
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return void response.writeHead(204).end()
    }
    if (key !== '') {
      const found = objects.get(key)
      return found ? void response.writeHead(200).end(found) : void xml(404, '<Error><Code>NoSuchKey</Code></Error>')
    }
    const prefix = url.searchParams.get('prefix') ?? ''
    const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort()
    const from = Number(url.searchParams.get('continuation-token') ?? 0)
    const page = names.slice(from, from + pageSize)
    const next =
      from + pageSize < names.length ? `<NextContinuationToken>${from + pageSize}</NextContinuationToken>` : ''
    const contents = page.map(
      (name) => `<Contents><Key>${name}</Key><Size>${objects.get(name)!.length}</Size></Contents>`,
    )
    xml(200, `<ListBucketResult>${contents.join('')}${next}</ListBucketResult>`)
  }, 'latin1')
  return {
    ...standIn,
    objects,
    refused,
    fail(status, times) {
      failing = { status, times }
    },
  }
}

/** Why the signature of a request is none of ours ("Authenticating Requests (AWS Signature Version 4)"); undefined for a good one. */
function problemOf({ method, url, headers, body }: Received): string | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!match) return 'no signature'
  const [, keyId, day = '', region = '', names = '', signature] = match
  if (keyId !== s3Keys.AWS_ACCESS_KEY_ID) return 'unknown key'
  const sum = String(headers['x-amz-content-sha256'])
  if (createHash('sha256').update(body, 'latin1').digest('hex') !== sum) return 'another body'
  const time = String(headers['x-amz-date'])
  const address = new URL(url, 'http://127.0.0.1')
  const encoded = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...address.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  const signed = names.split(';')
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!signed.includes(needed)) return `${needed} is not signed`
  const canonical = [
    method,
    address.pathname
      .split('/')
      .map((part) => encoded(decodeURIComponent(part)))
      .join('/'),
    query,
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sum,
  ].join('\n')
  const text = [
    'AWS4-HMAC-SHA256',
    time,
    `${day}/${region}/s3/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(
    (last, part) => hmac(last, part),
    hmac(`AWS4${s3Keys.AWS_SECRET_ACCESS_KEY}`, day),
  )
  return hmac(key, text).toString('hex') === signature ? undefined : 'another signature'
}
