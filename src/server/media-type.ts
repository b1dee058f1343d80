import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'

/** Also stands for suffixed types such as `application/vnd.api+json` (RFC 6839). */
export const jsonType = 'application/json'

export const formType = 'multipart/form-data'

/**
 * Throws `unsupported_media` unless the body has one of these media types, in UTF-8 and not compressed. A body without a
 * type, or of a type that forms can send, needs no CORS preflight
 * (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
 */
export function requireType({ headers }: IncomingMessage, types: readonly string[]): void {
  const encoding = headers['content-encoding']
  if (encoding && encoding !== 'identity')
    throw new AppError(
      'unsupported_media',
      `Unsupported content encoding ${encoding.slice(0, 20)}: send the body uncompressed`,
    )
  const { type, charset } = readType(headers['content-type'] ?? '')
  if (!types.includes(isJson(type) ? jsonType : type))
    throw new AppError('unsupported_media', `The body must be sent as ${types.join(' or ')}`)
  if (charset !== undefined && !/^(?:utf-?8|us-ascii|ascii)$/.test(charset))
    throw new AppError('unsupported_media', `Unsupported charset ${charset.slice(0, 20)}: send the body in UTF-8`)
}

/** The type and the charset of `text/plain; charset="UTF-8"`, in lower case. */
function readType(header: string): { readonly type: string; readonly charset: string | undefined } {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;|$)/.exec(header)?.[1]?.toLowerCase() ?? ''
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(header)?.[1]?.toLowerCase()
  return { type, charset }
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type)
}
