import { closeSync, openSync, readSync } from 'node:fs'
import { damaged } from './file-error.ts'
import { closing, comma, isSpace, kinds, opening, plain, quote } from './json-spans.ts'

/** Bytes that are read from a file at once. */
const chunkSize = 1024 ** 2

/** The bytes of a file in chunks; each is valid until the next one is asked for. */
export function* fileChunks(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(chunkSize)
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) yield buffer.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

/** The position relative to the brackets of an array. */
type Phase = 'before' | 'inside' | 'after'

/**
 * The items of a JSON array that arrives in chunks, as bytes and one at a time: a text of gigabytes is held in no memory.
 * Looks at brackets and strings only; parsing an item checks it. Undefined stands for an item longer than `most` bytes.
 * Throws a FileError when the text is no array, breaks off, or goes on after its end.
 */
export function* jsonItems(chunks: Iterable<Uint8Array>, most: number): Generator<Buffer | undefined> {
  let phase = 'before' as Phase
  let depth = 0
  let inString = false
  let escaped = false
  let hasComma = false
  const { take, taken } = collector(most)
  let position = 0
  for (const chunk of chunks) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (inString) {
        if (escaped) escaped = false
        else if (byte === 0x5c) escaped = true
        else if (byte === 0x22) inString = false
        continue
      }
      if (phase !== 'inside') {
        if (isSpace(byte) || byte === mark[position++]) continue
        if (phase === 'after') throw damaged('The JSON goes on after its end')
        if (byte !== 0x5b) throw damaged('The JSON is no list')
        phase = 'inside'
        start = at + 1
        continue
      }
      const kind = kinds[byte]!
      if (kind === plain) continue
      if (kind === quote) inString = true
      else if (kind === opening) depth++
      else if (kind === closing && depth > 0) depth--
      else if (kind === closing) {
        if (byte !== 0x5d) throw damaged('The JSON has a bracket too many')
        take(chunk.subarray(start, at))
        const last = taken()
        if (hasComma || last === undefined || !last.every(isSpace)) yield last
        phase = 'after'
      } else if (kind === comma && depth === 0) {
        take(chunk.subarray(start, at))
        yield taken()
        hasComma = true
        start = at + 1
      }
    }
    if (phase === 'inside') take(chunk.subarray(start))
  }
  if (phase !== 'after') throw damaged('The JSON breaks off')
}

interface Collector {
  take(bytes: Uint8Array): void
  /** The bytes since the last call; undefined when they were too many. */
  taken(): Buffer | undefined
}

/** Collects up to `most` bytes from pieces; of more it counts the length alone. */
function collector(most: number): Collector {
  let pieces: Uint8Array[] = []
  let length = 0
  return {
    take(bytes) {
      length += bytes.length
      // A copy: the reader of the chunk may write over it.
      if (length <= most) pieces.push(Uint8Array.from(bytes))
      else pieces = []
    },
    taken() {
      const bytes = length <= most ? Buffer.concat(pieces) : undefined
      pieces = []
      length = 0
      return bytes
    },
  }
}

/** A byte order mark in UTF-8, which some programs write before JSON. */
const mark = [0xef, 0xbb, 0xbf]

/**
 * The lines of a text that arrives in chunks, without their ends and one at a time. Undefined stands for a line longer than
 * `most` bytes.
 */
export function* textLines(chunks: Iterable<Uint8Array>, most: number): Generator<Buffer | undefined> {
  const { take, taken } = collector(most)
  let hasMore = false
  for (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0x0a, start); end >= 0; end = chunk.indexOf(0x0a, start)) {
      take(chunk.subarray(start, end))
      yield taken()
      start = end + 1
    }
    take(chunk.subarray(start))
    hasMore = start < chunk.length || (hasMore && start === 0)
  }
  if (hasMore) yield taken()
}
