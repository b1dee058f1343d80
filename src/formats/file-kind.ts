import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'

/** How every age file begins (https://age-encryption.org/v1). */
export const ageIntro = 'age-encryption.org/v1\n'

/** How an age file in letters begins. */
const ageArmor = '-----BEGIN AGE ENCRYPTED FILE-----'

/** The kind of a file, by its first bytes: `json` begins an object, `list` a JSON array. */
export type FileKind = 'json' | 'list' | 'zip' | 'age' | 'armored' | 'png' | 'unknown'

const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** Looks at the first bytes; the name and the declared type are ignored. */
export function fileKindOf(path: string): FileKind {
  const start = startOf(path)
  if (start.subarray(0, pngSignature.length).equals(pngSignature)) return 'png'
  const text = start.toString('latin1')
  if (text.startsWith(ageIntro)) return 'age'
  if (text.startsWith(ageArmor)) return 'armored'
  if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'zip'
  // A byte order mark may stand before JSON.
  const [, first] = /^(?:\xef\xbb\xbf)?[\t\n\r ]*([[{])/.exec(text) ?? []
  if (first === '[') return 'list'
  return first === '{' ? 'json' : 'unknown'
}

/** How files begin that users mistake for others; in Latin-1. */
const beginnings: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^$/, 'an empty file'],
  [/^%PDF-/, 'a PDF document'],
  [/^\xff\xd8\xff/, 'a JPEG picture'],
  [/^GIF8[79]a/, 'a GIF picture'],
  [/^RIFF[\s\S]{4}WEBP/, 'a WebP picture'],
  [/^RIFF[\s\S]{4}WAVE/, 'a WAV file'],
  [/^SQLite format 3\0/, 'an SQLite database'],
  [/^\x1f\x8b/, 'a gzip archive'],
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)/i, 'a web page or XML document'],
]

/** The name of a file's format, for a file of kind `unknown`: `a PDF document`, `a text file`, `a file of an unknown format`. */
export function formatNameOf(path: string): string {
  const start = startOf(path)
  const latin = start.toString('latin1')
  const found = beginnings.find(([pattern]) => pattern.test(latin))
  if (found) return found[1]
  // A character may be cut off at the end.
  const isText = isUtf8(start) || [1, 2, 3].some((cut) => isUtf8(start.subarray(0, -cut)))
  return isText && !/[\x00-\x08\x0e-\x1a]/.test(latin) ? 'a text file' : 'a file of an unknown format'
}

function startOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(256)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}
