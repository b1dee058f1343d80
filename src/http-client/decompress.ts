import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { readBytes } from '../formats/formats.ts'
import type { HttpResponse } from '../http/http.ts'

/**
 * The reply with its body decompressed, where a server or proxy compressed it without being asked (RFC 9110 §8.4: a request
 * without Accept-Encoding allows every coding). The reply itself where it is plain. An unknown coding and damaged data
 * fail the body with an error.
 */
export function decompressed(reply: HttpResponse): HttpResponse {
  const codingHeader = reply.headers['content-encoding']
  if (codingHeader === undefined) return reply
  const codings = String(codingHeader)
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length === 0) return reply
  const { 'content-encoding': _coding, 'content-length': _length, ...headers } = reply.headers
  const body = unpack(reply, codings.reverse())
  return {
    status: reply.status,
    headers,
    body,
    text: async (limit) => (await readBytes(body, limit, () => tooLong(limit))).toString('utf8'),
    // Decompressing only to drain is not worth the connection: the rest ends with its reader.
    discard: () => reply.discard(),
  }
}

/** The error for an answer longer than `limit` bytes. */
export function tooLong(limit: number): Error {
  return unreadable(`the answer is longer than ${Math.ceil(limit / 1024)} KiB`)
}

/** An error with the code by which a failure is known as the answer's own, which no second try mends. */
function unreadable(message: string): Error {
  return Object.assign(new Error(message), { code: 'UNREADABLE_ANSWER' })
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

async function* unpack(reply: HttpResponse, codings: readonly string[]): AsyncGenerator<Uint8Array> {
  const unknown = codings.find((coding) => unpackers[coding] === undefined)
  if (unknown !== undefined) {
    reply.discard()
    throw unreadable(`the answer is packed as ${unknown.slice(0, 30)}, which cannot be unpacked`)
  }
  const stages = codings.map((coding) => unpackers[coding]!())
  const last = stages.at(-1)!
  // An error anywhere reaches the reader through the last stage.
  pipeline([Readable.from(reply.body), ...stages], () => {})
  for await (const bytes of last) yield bytes as Buffer
}
