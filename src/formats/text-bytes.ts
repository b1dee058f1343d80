/**
 * The text that bytes hold, without its byte order mark: UTF-8, or UTF-16 that begins with its mark. `charset` is the name
 * that a server gave and holds where there is no mark. Undefined for bytes that are no text: a NUL, or a sequence that the
 * encoding does not have, which `isLenient` reads as U+FFFD.
 */
export function textOfBytes(bytes: Uint8Array, charset?: string, isLenient = false): string | undefined {
  const encoding = markOf(bytes) ?? knownEncoding(charset)
  try {
    const text = new TextDecoder(encoding ?? 'utf-8', { fatal: !isLenient }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** The encoding of a byte order mark (https://encoding.spec.whatwg.org/#bom-sniff). */
function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** The name where a decoder has it; others are read as UTF-8. */
function knownEncoding(charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined
  try {
    return new TextDecoder(charset).encoding
  } catch {
    return undefined
  }
}

/** The character set that a page of HTML names in its first kilobyte, as HTML's standard has it. */
export function charsetOfPage(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 1024)).toString('latin1')
  return /<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w-]{1,40})/i.exec(beginning)?.[1]
}
