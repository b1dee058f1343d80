import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'

/** The media type of most bodies; `application/vnd.api+json` and its kin are JSON too (RFC 6839). */
export const jsonType = 'application/json'

export const formType = 'multipart/form-data'

/**
 * Throws `unsupported_media` unless the request says that its body is of one of these media types, in UTF-8 and not
 * compressed. A body without a type, and one of the types that a web page's form can send, would come past the browser's
 * own guard (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
 */
export function requireType({ headers }: IncomingMessage, types: readonly string[]): void {
  const encoding = headers['content-encoding']
  if (encoding && encoding !== 'identity')
    throw new AppError('unsupported_media', `A body compressed with ${encoding.slice(0, 20)} is not read`)
  const { type, charset } = readType(headers['content-type'] ?? '')
  if (!types.includes(isJson(type) ? jsonType : type))
    throw new AppError('unsupported_media', `The body must be sent as ${types.join(' or ')}`)
  if (charset !== undefined && !/^(?:utf-?8|us-ascii|ascii)$/.test(charset))
    throw new AppError('unsupported_media', `A body in ${charset.slice(0, 20)} is not read: send it in UTF-8`)
}

/** `text/plain; charset="UTF-8"` in its parts, in lower case. */
function readType(header: string): { readonly type: string; readonly charset: string | undefined } {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;|$)/.exec(header)?.[1]?.toLowerCase() ?? ''
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(header)?.[1]?.toLowerCase()
  return { type, charset }
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type)
}
