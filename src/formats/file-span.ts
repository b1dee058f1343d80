import { readSync } from 'node:fs'
import { damaged } from './file-error.ts'

/** A piece of a file: from its first byte to the one after its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The bytes of a span; refuses more than `most`. `name` is its name in the error. */
export function readSpan(file: number, span: Span, most: number, name: string): Buffer {
  const length = span.end - span.start
  if (length > most) throw damaged(`${name} is longer than ${most} bytes`)
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; ) {
    const read = readSync(file, bytes, at, length - at, span.start + at)
    if (read === 0) throw damaged('The file became shorter while it was read')
    at += read
  }
  return bytes
}
